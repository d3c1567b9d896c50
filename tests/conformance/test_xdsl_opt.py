"""Whatever xdsl-opt passes of xDSL's own FileCheck tests, passline-opt passes in its place."""

from __future__ import annotations

import re

import pytest
from support.releases import has_xdsl, needs_xdsl
from support.suites.lit_suite import LitTest
from xdsl.xdsl_opt_main import xDSLOptMain
from xdsl_opt import Verdict, all_tests, run_test

from passline.tools.opt import PasslineOptMain

CANONICALIZE = "passline-opt's canonicalize does more, see test_xdsl_canonicalization.py"
DOMINANCE = "the IR is invalid: a definition does not dominate a use"
LOCATIONS = "operations know where they were parsed, in xDSL they do not"
PARAMETERS = "the attributes of the parameters of a declaration are kept, as by mlir-opt"
REGISTERED = "arith.remf is an operation here, which xDSL does not have"
STDERR = "what passes print goes to stderr, so that the output is the result alone"
WORDING = "another message"

DIFFERENT = {
    "backend/mps/module.mlir": WORDING,
    "dialects/arith/canonicalize.mlir": CANONICALIZE,
    "dialects/builtin/invalid_attrs.mlir": WORDING,
    "dialects/func/func_ops.mlir": PARAMETERS,
    "dialects/llvm/invalid.mlir": "the file has comments of MLIR that xDSL does not read",
    "dialects/scf/canonicalize.mlir": CANONICALIZE,
    "dialects/tensor/invalid_ops.mlir": "tensor.pad may know sizes that do not follow, as in MLIR",
    "dialects/x86/x86_assembly_emission.mlir": DOMINANCE,
    "dialects/x86/x86_ops.mlir": DOMINANCE,
    "mlir-conversion/with-mlir/dialects/func/func_ops.mlir": LOCATIONS,
    "mlir-conversion/with-mlir/dialects/llvm/func.mlir": LOCATIONS,
    "mlir-conversion/with-mlir/mlir_opt_fail.mlir": WORDING,
    "mlir-conversion/with-mlir/parser-printer/custom_format_debuginfo.mlir": LOCATIONS,
    "parser-printer/color_diagnostics.mlir": "the IR in messages has no colours",
    "parser-printer/graph_region.mlir": WORDING,
    "transforms/convert-pdl-to-pdl-interp/pdl-to-pdl-interp-debug-tree-larger.mlir": STDERR,
    "transforms/convert-pdl-to-pdl-interp/pdl-to-pdl-interp-debug-tree.mlir": STDERR,
    "transforms/cse.mlir": REGISTERED,
    "transforms/eqsat-serialize-egraph-cycle.mlir": STDERR,
    "transforms/eqsat-serialize-egraph.mlir": STDERR,
    "transforms/lower-csl-stencil.mlir": DOMINANCE,
    "transforms/transform-interpreter-match.mlir": STDERR,
    "transforms/transform-interpreter.mlir": STDERR,
    "version.mlir": "the version of passline-opt",
}
"""The files with another result than that of xDSL 0.74, each with the reason."""

OF_OLDER_RELEASES = {
    r"Couldn't match .*\^bb": "xDSL numbered blocks through the module, not through each function",
    r"Couldn't match .*\\[\"n]": "xDSL escaped quotes and ends of lines as JSON does, not as MLIR",
    "is the last op of its block, but no terminator": "the dialect did not say so: NoTerminator",
}
"""How results differ from those of an older xDSL: messages, each with the reason."""


def files() -> list[LitTest]:
    try:
        return all_tests()
    except RuntimeError:  # the sources of xDSL cannot be had: `test_listed_files_exist` fails
        return []


TESTS = files()


@pytest.mark.parametrize("test", TESTS, ids=lambda test: test.name)
def test_file(test: LitTest):
    outcome = run_test(test, PasslineOptMain)
    if outcome.verdict is Verdict.UNSUPPORTED:
        pytest.skip(outcome.reason)
    failed = outcome.verdict is Verdict.FAILED
    if test.name in DIFFERENT and has_xdsl("0.74"):
        assert failed, "passes: it is not to be listed"
    elif failed and test.name not in DIFFERENT and not is_of_an_older_release(outcome.reason):
        # Some fail in this environment, for lack of a tool or for its version.
        assert run_test(test, xDSLOptMain).verdict is Verdict.FAILED, outcome.reason


def is_of_an_older_release(reason: str) -> bool:
    return not has_xdsl("0.74") and any(re.search(text, reason) for text in OF_OLDER_RELEASES)


@needs_xdsl("0.74", "its files")
def test_listed_files_exist():
    assert DIFFERENT.keys() <= {test.name for test in TESTS}
