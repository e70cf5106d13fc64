"""Prefect flows: when the work of `hexdata` runs, and again if it fails. No Hex, no Arrow, no torch of their own.

Settings that must be in place before Prefect is imported stand here; what the user has set wins.
"""

import os
from pathlib import Path

_SETTINGS = {
    "PREFECT_HOME": str(Path.cwd() / ".prefect"),
    # without a running server every process starts its own: 11 s, 35 s the first time
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_LOGGING_LEVEL": "WARNING",
    "DO_NOT_TRACK": "1",
}
for _name, _value in _SETTINGS.items():
    os.environ.setdefault(_name, _value)
