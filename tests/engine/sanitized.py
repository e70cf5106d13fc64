"""The engine's tests over another build of the module: `python -m tests.engine.sanitized build/sanitize`.

The loader of an editable install knows one module, so the other one takes its name before `hexdata.engine` asks for it.
"""

import importlib.util
import sys
from pathlib import Path

import pytest


def main(folder: Path) -> int:
    (library,) = folder.glob("_core.*.so")
    spec = importlib.util.spec_from_file_location("hexdata.engine._core", library)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    from hexdata.engine import solve

    assert solve is module.solve
    tests = Path(__file__).parent
    # what is left out runs in processes of its own, without this module
    return pytest.main(
        ["-q", "-p", "no:cacheprovider", "-k", "not memory and not ctrl_c and not soundness", str(tests)]
    )


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
