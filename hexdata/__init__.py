"""Reproducible datasets, networks and proved evaluation suites for the board game Hex."""
