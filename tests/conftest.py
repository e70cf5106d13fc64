"""Before any test imports torch."""

from hexdata.kernels import pin_kernels

pin_kernels()
