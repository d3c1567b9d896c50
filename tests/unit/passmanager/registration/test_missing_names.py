"""Names that a module does not have: one hint, with the module that has the name."""

from __future__ import annotations

import subprocess
import sys

import pytest
from support.tables import table_test

import passline
from passline import instrument, passes, transform


@table_test(
    ("module", "name", "says"),
    [
        (passline, "FoldConst", "'FoldConst', did you mean 'passline.passes.FoldConstant'?"),
        (passline, "FoldConstant", "did you mean 'passline.passes.FoldConstant'?"),
        (passline, "optimise", "did you mean 'optimize'?"),
        (transform, "FoldConst", "'passline.transform' .* did you mean 'FoldConstant'?"),
        (transform, "StorageFlatten", "did you mean 'FlattenBuffer'?"),
        (passes, "FoldConst", "'passline.passes' .* did you mean 'FoldConstant'?"),
        (instrument, "PassTimingInstrumen", "did you mean 'PassTimingInstrument'?"),
        (passline.instruments, "DumpIr", "did you mean 'DumpIR'?"),
        (passline, "build_config", r"write PassContext\(opt_level=3\)"),
        (transform, "build_config", r"write PassContext\(opt_level=3\)"),
        (transform, "sequential", r"write Sequential\(\[\.\.\.\]\)"),
        (passline, "relay", "passes are in passline.transform"),
    ],
)
def test_message_names_what_to_write(module: object, name: str, says: str) -> None:
    with pytest.raises(AttributeError, match=says) as caught:
        getattr(module, name)
    assert caught.value.name == name


def test_python_adds_no_hint_of_its_own() -> None:
    code = "import passline; passline.transform.FoldConst"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.lower().count("did you mean") == 1, done.stderr
