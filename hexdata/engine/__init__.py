"""The C++ core: rules, keys, search, self-play and proofs, each a batch call that releases the GIL."""

from pathlib import Path

ENGINE_VERSION = int((Path(__file__).parent / "VERSION").read_text())
