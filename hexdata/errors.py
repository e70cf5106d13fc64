"""What a user can put right: bad input, said in one sentence. Programs exit with 2 and touch nothing."""


class BadInput(ValueError):
    """The message names the file, row or parameter and what was expected."""
