"""How work ends when it does not end well: bad input (exit code 2) and work that was stopped (exit code 1)."""


class BadInput(ValueError):
    """What a user can put right; nothing was touched. The message names the file, row or parameter and what was
    expected.
    """


class Unfinished(Exception):
    """Stopped on the way through no fault of the input. What is finished stays; the same command goes on from there.

    The message says what happened and what to do.
    """


def failed(error: OSError) -> str:
    """What the system refused, such as room on the disk, in one line."""
    reason = (error.strerror or str(error)).lower()
    return f"{error.filename}: {reason}" if error.filename else reason
