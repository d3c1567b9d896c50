"""Options of mlir-opt and LLVM's opt that are spelled differently here, or that are not needed."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping

ADVICE: Mapping[str, str] = {
    "--convert-to-generic": "write --print-op-generic",
    "--debug-only": "--debug-pass-manager logs the passes, --remarks what they did",
    "--emit": "passline-compile writes .ll, .s, .o and .so by the name of -o",
    "--entry-point": "write passline-run --function=NAME",
    "--entry-point-result": "not needed: passline-run prints results of every type",
    "-e": "write passline-run --function=NAME",
    "--entry-function": "write passline-run --function=NAME",
    "--load-dialect-plugin": "write --load=FILE.py; installed plugins are found by themselves",
    "--load-pass-plugin": "write --load=FILE.py; installed plugins are found by themselves",
    "--log-mlir-actions-filter": "write --log-actions-filter=FILE:LINE",
    "--mlir-disable-threading": "not needed: passes run one after the other",
    "--mlir-generate-reproducer": "write --generate-reproducer=FILE",
    "--mlir-output-format": "write --timing=json, --pass-statistics=json",
    "--mlir-pass-pipeline-crash-reproducer": "write --crash-reproducer=FILE",
    "--mlir-pass-pipeline-local-reproducer": "write --local-reproducer=FILE",
    "--mlir-pass-statistics-display": "write --pass-statistics",
    "--mlir-print-local-scope": "not needed: types, attributes and locations are never aliases",
    "--mlir-print-stacktrace-on-diagnostic": "--debug shows the traceback",
    "--mlir-timing-display": "write --timing=list, --timing=tree",
    "--mlir-use-nameloc-as-prefix": "not needed: names of values are kept",
    "--mlir-very-unsafe-disable-verifier-on-parsing": "write --disable-verify",
    "--print-after": "write --print-ir-after=NAME",
    "--print-after-all": "write --print-ir-after-all",
    "--print-after-pass-number": "write --print-ir-after-pass-number=N",
    "--print-before": "write --print-ir-before=NAME",
    "--print-before-all": "write --print-ir-before-all",
    "--print-before-pass-number": "write --print-ir-before-pass-number=N",
    "--print-changed": "write --print-ir-after-change, or --print-diff",
    "--print-module-scope": "write --print-ir-module-scope",
    "--print-passes": "write --list-passes",
    "--print-pipeline-passes": "write --dump-pass-pipeline",
    "--profile-actions-to": "write --trace=FILE",
    "--remarks-filter": "write --remarks=REGEX",
    "--show-dialects": "write --list-dialects",
    "--split-input-file-marker": "write --split-input-file=MARKER",
    "--stats": "write --pass-statistics",
    "-S": "not needed: the result is text",
}
"""An option of another tool -> what to write here."""


_MLIR_PASS = re.compile(
    r"--(?:convert-[a-z0-9-]+-to-|finalize-memref-to-llvm|lower-affine|expand-strided-metadata|"
    r"one-shot-bufferize|reconcile-unrealized-casts|test-lower-to-llvm|linalg-|affine-|buffer-)"
)
"""Names of passes of mlir-opt that neither Passline nor xDSL has."""


def advice(option: str, known: Container[str]) -> str | None:
    """Return what to write for an option of mlir-opt or opt, or None; `known` are our options.

    LLVM's tools take every option with one dash, too.
    """
    long = f"--{option.lstrip('-')}"
    if (found := ADVICE.get(option) or ADVICE.get(long)) is not None:
        return found
    if _MLIR_PASS.match(long):
        return f"MLIR's passes run by mlir-opt: write -p 'mlir-opt[{long[2:]}]'"
    own = long.replace("--mlir-", "--", 1)
    return f"write {own}" if long.startswith("--mlir-") and own in known else None
