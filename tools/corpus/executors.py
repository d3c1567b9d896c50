"""The executors on which many inputs are run: processes of this machine, and a Dask cluster."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from typing import cast

from ...passmanager.errors import PasslineError

__all__ = ["dask_executor", "process_pool"]


def process_pool(workers: int, initializer: Callable[[], None] | None = None) -> Executor:
    """Return an executor of new processes, which inherit nothing of this one but its `sys.path`.

    They are not forked from this process, which may have threads, and end when it ends.
    """
    has_server = "forkserver" in multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if has_server else "spawn")
    return ProcessPoolExecutor(
        workers, mp_context=context, initializer=_prepare, initargs=(initializer,)
    )


def _prepare(initializer: Callable[[], None] | None) -> None:
    """Prepare a worker process: an interrupt ends it without a traceback, and so does the end of
    its parent, for which a worker that waits for a job would wait forever."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if (parent := multiprocessing.parent_process()) is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    if initializer is not None:
        initializer()


def _end_with(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


@contextmanager
def dask_executor(address: str) -> Generator[Executor]:
    """Connect to the Dask cluster whose scheduler has this address, and return its executor.

    PasslineError if `distributed` is not installed, or if there is no scheduler.
    """
    try:
        from distributed import Client  # pyright: ignore
    except ImportError:
        raise PasslineError(
            "--executor=dask needs distributed, which is not installed: pip install distributed"
        ) from None
    try:
        client = Client(address)  # pyright: ignore
    except (OSError, ValueError) as error:
        raise PasslineError(f"--executor=dask:{address}: {error}") from None
    with client:  # pyright: ignore
        yield cast(Executor, client.get_executor(pure=False))  # pyright: ignore
