"""Pins torch to one family of CPU kernels, so that a model's bytes do not depend on which vector unit trained it.

torch and oneDNN read these variables when they load, so `pin_kernels` comes before the first `import torch`.
"""

from __future__ import annotations

import os
import sys

PINNED = {
    "ATEN_CPU_CAPABILITY": "avx2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    # without it torch refuses deterministic matrix products on CUDA
    "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
}


def kernels_pinned() -> bool:
    return all(os.environ.get(name) == value for name, value in PINNED.items())


def pin_kernels() -> None:
    if "torch" in sys.modules and not kernels_pinned():
        raise RuntimeError("pin_kernels() comes too late: torch is imported and has chosen its kernels")
    os.environ.update(PINNED)
    # threads that wait sleep instead of spinning: with other work on the same two cores, an epoch of 53,240 rows took
    # 43 s instead of 169 s (one run each); the losses were the same
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
