"""The exception of legalizations for operations that no kernel computes."""

from __future__ import annotations

__all__ = ["NoKernel"]


class NoKernel(Exception):
    """An operation, type or shape that kernels do not support; the message is the reason.

    A legalization raises it, and so may the tensors that it returns while they are read;
    `legalize-ops` then leaves the function as it is.
    """
