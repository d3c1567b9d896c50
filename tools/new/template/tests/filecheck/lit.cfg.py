# pyright: basic
"""lit runs the RUN lines of the `.mlir` files here: `lit tests/filecheck`. Tools run in forks of a
process that has imported them."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

from lit.TestingConfig import TestingConfig

import passline.testing

suite: TestingConfig = globals()["config"]
suite.name = "my-compiler"
suite.test_format = passline.testing.LitFormat(execute_external=False)
suite.suffixes = {".mlir"}
suite.test_source_root = str(Path(__file__).parent)
suite.environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
if "PYTHONPATH" in os.environ:
    suite.environment["PYTHONPATH"] = os.environ["PYTHONPATH"]
if find_spec("numpy"):  # on which passline-run computes: pip install 'passline[compiler]'
    suite.available_features.add("numpy")
suite.substitutions.append(("my-compiler-opt", f"{sys.executable} -m my_compiler.opt"))
