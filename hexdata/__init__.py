"""Reproducible datasets, networks and proved evaluation suites for the board game Hex."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from os import PathLike

    from hexdata.loading import Dataset


def load(name: str | PathLike[str]) -> Dataset:
    """The dataset of a campaign ("hex6"), or in a folder of its files, as NumPy and torch views: see `loading`."""
    # only here: `import hexdata` brings neither NumPy nor Arrow
    from hexdata.loading import load_dataset

    return load_dataset(name)
