"""Libraries of functions whose sizes are not known: results are allocated, and sizes checked."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from support.native.c_compiler import check_c, needs_cc
from support.native.needs_llvmlite import needs_native
from support.suites.inprocess import capture

from passline.compiler.compile.runtime import Library, LibraryError
from passline.tools.compile import PasslineCompileMain

pytestmark = [needs_native, needs_cc]

FUNCTION = """
func.func @main(%x: tensor<?x8xf32> {onnx.dims = ["n", unit]},
                %y: tensor<?x8xf32> {onnx.dims = ["n", unit]},
                %z: tensor<?xbf16> {onnx.dims = ["m"]}, %i: tensor<2xi64>)
    -> (tensor<?x8xf32>, tensor<?xbf16>, tensor<2x8xf32>) {
  %sum = relax.add %x, %y : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %twice = relax.add %z, %z : (tensor<?xbf16>, tensor<?xbf16>) -> tensor<?xbf16>
  %rows = relax.take %sum, %i {axis = 0, mode = "raise"}
      : (tensor<?x8xf32>, tensor<2xi64>) -> tensor<2x8xf32>
  func.return %sum, %twice, %rows : tensor<?x8xf32>, tensor<?xbf16>, tensor<2x8xf32>
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of `FUNCTION`."""
    directory = tmp_path_factory.mktemp("dynamic")
    (directory / "rows.mlir").write_text(FUNCTION)
    files = [str(directory / name) for name in ("rows.mlir", "rows.so")]
    result = capture(lambda: PasslineCompileMain([files[0], "-o", files[1]]).run())
    assert result.status == 0 and result.stderr.startswith("wrote ")
    return directory / "rows.so"


def arguments(n: int, m: int, *rows: int) -> list[np.ndarray]:
    x = np.arange(8 * n, dtype=np.float32).reshape(n, 8)
    return [x, np.ones((n, 8), np.float32), np.full(m, 1.5, np.float32), np.array(rows)]


def test_one_library_serves_all_sizes(library: Path) -> None:
    main = Library(library)["main"]
    assert [str(result) for result in main.results][2] == "rows: 2x8xf32"
    for n, m in [(1, 0), (3, 5), (17, 1), (200, 64)]:
        given = arguments(n, m, n - 1, 0)
        total, twice, rows = main(*given)
        expected = given[0] + given[1]
        assert np.array_equal(total, expected) and np.array_equal(rows, expected[[n - 1, 0]])
        assert twice.tolist() == [3.0] * m


def test_what_fails_is_reported_and_costs_no_memory(library: Path) -> None:
    main = Library(library)["main"]
    given = arguments(3, 4, 0, 3)
    with pytest.raises(LibraryError, match=r"rows.mlir:8:11: .*index is out of bounds"):
        main(*given)
    given[1] = np.ones((4, 8), np.float32)
    with pytest.raises(LibraryError, match="'n', which is 3 by dimension 0 of 'x', not 4"):
        main(*given)


CALLER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rows.h"
int main(void) {
  static float x[5 * 8], y[5 * 8];
  static uint16_t z[3] = {0x3FC0, 0x3FC0, 0x3FC0};
  int64_t rows[2] = {4, 1}, x_shape[2] = {5, 8}, y_shape[2] = {4, 8}, z_shape[1] = {3};
  int64_t shapes[3][2];
  passline_array in[3], out[3];
  passline_failure failure;
  int i;
  for (i = 0; i < 40; i++) x[i] = (float)i;
  memset(out, 1, sizeof out);
  in[0].data = x, in[1].data = y, in[2].data = z;
  in[0].shape = x_shape, in[1].shape = y_shape, in[2].shape = z_shape;
  for (i = 0; i < 3; i++) out[i].shape = shapes[i];
  if (rows_main(in, in + 1, in + 2, rows, out, out + 1, out + 2, &failure) !=
      PASSLINE_BAD_ARGUMENT || out[0].memory != NULL) return 1;
  puts(failure.message);
  y_shape[0] = 5;
  if (rows_main(in, in + 1, in + 2, rows, out, out + 1, out + 2, NULL)) return 2;
  printf("%dx%d %d %g\n", (int)shapes[0][0], (int)shapes[0][1], (int)shapes[1][0],
         (double)((float *)out[2].data)[8]);
  for (i = 0; i < 3; i++) free(out[i].memory);
  rows[0] = 5;
  if (rows_main(in, in + 1, in + 2, rows, out, out + 1, out + 2, &failure) != PASSLINE_FAILED)
    return 3;
  return out[0].memory != NULL;
}
"""


@pytest.mark.parametrize("standard", ["c99", "c++11"])
def test_a_program_in_c_gets_and_frees_the_results(
    library: Path, tmp_path: Path, standard: str
) -> None:
    source, program = tmp_path / "caller.c", tmp_path / "caller"
    source.write_text(CALLER)
    check_c(source, library.parent, standard)
    options = [f"-Wl,-rpath,{library.parent}", "-o", program]
    subprocess.run(["cc", source.with_suffix(".o"), library, *options], check=True)
    said = subprocess.run([program], capture_output=True, text=True)
    message = "dimension 0 of 'y' is 'n': other sizes say another one"
    assert (said.returncode, said.stdout) == (0, f"{message}\n5x8 3 8\n")
