"""The search for an OpenMP runtime, and what happens without one."""

from __future__ import annotations

import ctypes
import warnings
from pathlib import Path

import pytest
from support.native.needs_llvmlite import needs_native
from support.native.needs_openmp import needs_openmp

import passline
from passline.compiler.native import jit as openmp
from passline.compiler.native.jit import (
    find_runtime,
    installed_libraries,
    runtime_symbols,
    usable_threads,
)


@pytest.fixture
def no_runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let there be no runtime, and no warning that was given."""
    monkeypatch.setattr(openmp, "candidates", lambda: iter(()))
    openmp.warn_once.cache_clear()


@needs_openmp
def test_the_runtime_has_the_functions_of_parallel_loops():
    runtime = find_runtime()
    assert runtime is not None
    assert runtime.address("__kmpc_fork_call")
    assert runtime.address("__kmpc_no_such_function") is None
    assert [*runtime_symbols(["__kmpc_fork_call", "malloc"])] == ["__kmpc_fork_call"]


@needs_openmp
def test_a_runtime_that_is_loaded_is_used_again():
    runtime = find_runtime()
    assert runtime is not None
    if not runtime.path.startswith("/"):
        pytest.skip("the process itself has the runtime")
    ctypes.CDLL(runtime.path)
    again = find_runtime()
    assert again is not None
    assert Path(again.path).resolve() == Path(runtime.path).resolve()


def test_the_wheel_and_packages_are_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(openmp.sys, "prefix", str(tmp_path))
    assert tmp_path / "lib" / "libiomp5.so" in installed_libraries()


@pytest.mark.usefixtures("no_runtime")
def test_without_a_runtime_one_warning_names_the_ways_to_get_one():
    with pytest.warns(RuntimeWarning) as caught:
        assert usable_threads(2) == 1
    text = str(caught[0].message)
    assert text.startswith("one thread is used, not 2: no OpenMP runtime was found; ")
    for way in ("libomp", "intel-openmp", "import a library"):
        assert way in text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert usable_threads(2) == 1
        assert usable_threads(1) == 1


@pytest.mark.usefixtures("no_runtime")
@needs_native
def test_without_a_runtime_one_thread_computes():
    text = """
    func.func @main(%x: tensor<400x400xf32>) -> tensor<400x400xf32> {
      %0 = relax.exp %x : (tensor<400x400xf32>) -> tensor<400x400xf32>
      func.return %0 : tensor<400x400xf32>
    }
    """
    import numpy as np

    with pytest.warns(RuntimeWarning, match="one thread is used, not 4"):
        function = passline.compile(text, threads=4)
    (result,) = function(np.zeros((400, 400), np.float32))
    assert (result == 1).all()
