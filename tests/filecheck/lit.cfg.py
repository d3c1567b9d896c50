# pyright: basic
"""`lit tests/filecheck` runs the RUN lines as they stand, each command in a process of its own."""

import os
import shutil
import sys
from pathlib import Path

from lit.TestingConfig import TestingConfig

import passline.testing

suite: TestingConfig = globals()["config"]
suite.name = "Passline"
suite.test_format = passline.testing.LitFormat()
suite.suffixes = {".mlir"}
suite.excludes = {"Inputs"}
suite.test_source_root = str(Path(__file__).parent)
suite.environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])

mlir_opt = shutil.which("mlir-opt-22") or shutil.which("mlir-opt")
if mlir_opt:
    suite.available_features.add("mlir-opt")
    suite.substitutions.append((r"\bmlir-opt\b", mlir_opt))
