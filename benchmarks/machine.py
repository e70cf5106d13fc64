"""The processor that a figure was measured on. Results name it, and neither the host nor the date."""

import platform
import re
from pathlib import Path


def processor_name() -> str:
    """Its model name, such as `AMD EPYC 7B13`; the architecture where the system does not say."""
    info = Path("/proc/cpuinfo")
    found = re.search(r"^model name\s*:\s*(.+)$", info.read_text(), re.MULTILINE) if info.is_file() else None
    return found[1].strip() if found else platform.processor() or platform.machine()


def short_name(processor: str) -> str:
    """For file names: `Intel(R) Xeon(R) CPU @ 2.20GHz` is `intel-xeon-cpu-2-20ghz`."""
    plain = re.sub(r"\((r|tm)\)", "", processor.lower())
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
