"""One writer at a time for what is built from many parts: a run that outlived the command that began it, say."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hexdata.errors import Unfinished


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Hold the folder; Unfinished if another process of this machine does. The kernel lets go with the process, however
    it ended.
    """
    new = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    lock = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_held = os.path.samestat(os.fstat(lock), os.stat(folder))
        except (BlockingIOError, FileNotFoundError):  # or the other run has just ended and removed it
            is_held = False
        if not is_held:
            raise Unfinished(f"{folder}: another run is writing it: wait for its end, then run this again")
        try:
            yield
        finally:
            with suppress(OSError):  # those that something was written to stay
                for path in new:
                    path.rmdir()
    finally:
        os.close(lock)
