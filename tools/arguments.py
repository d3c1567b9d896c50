"""The options of `passline-opt` beside those of `xdsl-opt`, or in their place."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterable

from ..passmanager.errors import PasslineError
from .argument_parser import (
    Chosen,
    Group,
    Numbers,
    OptionalValue,
    add_names,
    add_optional,
    limit,
    nonempty_text,
    pass_name,
    size,
)

__all__ = [
    "REMARK_OPTIONS",
    "add_arguments",
    "add_pipeline",
    "add_verification",
    "check_arguments",
    "check_pipeline_source",
]


def add_arguments(parser: argparse.ArgumentParser, targets: Iterable[str], version: str) -> None:
    """Add the options, in groups."""
    _add_input_and_output(parser, targets)
    _add_steering(add_pipeline(parser))
    _add_checks(parser)
    _add_ir_printing(parser)
    _add_style(parser)
    _add_measuring(parser)
    _add_questions(parser, version)


REMARK_OPTIONS = {
    "all": "remarks",
    "passed": "remarks_passed",
    "missed": "remarks_missed",
    "failed": "remarks_failed",
    "analysis": "remarks_analysis",
}
"""The options that select remarks, by the kind of these."""

WRITTEN = (
    "output_file",
    "trace",
    "remarks_output",
    "crash_reproducer",
    "local_reproducer",
    "generate_reproducer",
)
"""The options that name a file to write."""


def _flag(option: str) -> str:
    return "--" + option.replace("_", "-")


def check_pipeline_source(args: argparse.Namespace) -> None:
    """PasslineError if the pipeline is given twice."""
    if args.run_reproducer and (args.passes or args.opt_level is not None):
        raise PasslineError("--run-reproducer takes the pipeline from the input, not -p or -O")


def check_arguments(args: argparse.Namespace) -> None:
    """PasslineError if arguments that are right each by itself are wrong together."""
    for option in REMARK_OPTIONS.values():
        try:
            re.compile(getattr(args, option) or "")
        except re.error as error:
            raise PasslineError(f"argument {_flag(option)}: {error}") from None
    check_pipeline_source(args)
    written: dict[str, str] = {}
    for option in WRITTEN:
        file: str | None = getattr(args, option)
        if not file or file == "-" or (os.path.exists(file) and not os.path.isfile(file)):
            continue  # what is no file, as /dev/null, may be written twice
        flag = _flag(option)
        if (other := written.setdefault(os.path.realpath(file), flag)) != flag:
            raise PasslineError(f"{other} and {flag} would both write the file '{file}'")


def _add_input_and_output(parser: argparse.ArgumentParser, targets: Iterable[str]) -> None:
    group = parser.add_argument_group("input and output")
    add = group.add_argument
    help = f"what to write: one of {', '.join(targets)}"
    add("-t", "--target", default="mlir", help=help)
    help = "the file to write, in one step when all has succeeded; '-' is stdout"
    add("-o", "--output-file", type=nonempty_text, metavar="FILE", help=help)
    add("--no-print", action="store_true", help="do not write the result")
    help = "take the parts of the input between lines that are '// -----' one by one"
    add_optional(group, "--split-input-file", "// -----", "MARKER", help)
    help = "the line to write between the results of the parts"
    add("--output-split-marker", default="// -----", metavar="MARKER", help=help)
    help = "show the remarks of passes whose name matches, by default of all"
    add_optional(group, "--remarks", ".*", "REGEX", help)
    for kind, what in {
        "passed": "what they did",
        "missed": "what they left",
        "failed": "what they tried in vain",
        "analysis": "what they found out",
    }.items():
        help = f"as --remarks, but only those that say {what}"
        add_optional(group, f"--remarks-{kind}", ".*", "REGEX", help)
    help = "write remarks in LLVM's YAML to FILE instead; all, unless an option above selects some"
    add("--remarks-output", type=nonempty_text, metavar="FILE", help=help)
    add("--quiet", action="store_true", help="no progress bar, no warnings, no remarks")
    add("--debug", action="store_true", help="show the traceback when something fails")


def add_pipeline(parser: argparse.ArgumentParser) -> Group:
    """Add the options that say which passes run, with which options."""
    group = parser.add_argument_group("pipeline")
    add = group.add_argument
    help = "passes to run, as a,b{option=1}; may be repeated; --a is the same as -p a"
    add("-p", "--passes", action="append", default=[], metavar="PIPELINE", help=help)
    help = "0 to 3: the default pipeline of this level; with -p, the level that -p runs at"
    add("-O", type=int, choices=range(4), metavar="LEVEL", dest="opt_level", help=help)
    add_names(group, "--disable-pass", "passes never to run, unless another requires them")
    add_names(group, "--require-pass", "passes to run whatever their level")
    help = "set an option, as fold-constant.max_elements=64; may be repeated"
    add("--config", action="append", default=[], metavar="KEY=VALUE", help=help)
    help = "read options from a TOML file; --config has precedence"
    add("--config-file", type=nonempty_text, metavar="FILE", help=help)
    help = "run the pipeline that the input, written by --crash-reproducer, holds"
    add("--run-reproducer", action="store_true", help=help)
    return group


def _add_steering(group: Group) -> None:
    add = group.add_argument
    help = "run N passes at most and say which, as LLVM's; -1 runs all"
    bisect = group.add_mutually_exclusive_group().add_argument
    bisect("--opt-bisect-limit", type=limit, metavar="N", help=help)
    help = "run only the passes with these numbers, as 1-3,7, and say which"
    bisect("--opt-bisect", type=Numbers, metavar="N-M,...", help=help)
    help = "take only the steps of this kind with these numbers, as rewrite=1-3:7; may be repeated"
    add("--debug-counter", action=Chosen, default={}, metavar="TAG=N-M:...", help=help)
    help = "run nothing after the first pass of this name"
    add("--stop-after", type=pass_name, metavar="NAME", help=help)
    help = "run nothing up to the first pass of this name"
    add("--start-after", type=pass_name, metavar="NAME", help=help)


def _add_checks(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("checks")
    add = group.add_argument
    add_verification(group)
    help = "check that the result reads back as what was written"
    add("--verify-roundtrip", action="store_true", help=help)
    help = "check diagnostics against comments as // expected-error {{text}}"
    add_optional(group, "--verify-diagnostics", "all", ("all", "only-expected"), help)
    help = "if a pass fails, write the input and the pipeline to FILE"
    add("--crash-reproducer", type=nonempty_text, metavar="FILE", help=help)
    help = "as --crash-reproducer, but whether a pass fails or not"
    add("--generate-reproducer", type=nonempty_text, metavar="FILE", help=help)
    help = "as --crash-reproducer, but only the pass that failed and the IR before it"
    add("--local-reproducer", type=nonempty_text, metavar="FILE", help=help)


def add_verification(group: Group) -> None:
    add = group.add_argument
    help = "verify what each pass changed (on by default)"
    add("--verify-each", action=argparse.BooleanOptionalAction, default=True, help=help)
    add("--disable-verify", action="store_true", help="verify nothing")
    help = "check what passes say that they preserve"
    add("--verify-preserves", action="store_true", help=help)


def _add_ir_printing(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("seeing the IR and the passes, on stderr")
    add = group.add_argument
    add_names(group, "--print-ir-before", "print the IR before these passes")
    add_names(group, "--print-ir-after", "print the IR after these passes")
    add("--print-ir-before-all", action="store_true", help="print the IR before each pass")
    add("--print-ir-after-all", action="store_true", help="print the IR after each pass")
    help = "print the IR at the start, and after each pass that changed it"
    add("--print-ir-after-change", action="store_true", help=help)
    help = "print the IR before the passes with these numbers, as --print-pass-numbers has them"
    add("--print-ir-before-pass-number", type=Numbers, metavar="N-M,...", help=help)
    help = "print the IR after the passes with these numbers"
    add("--print-ir-after-pass-number", type=Numbers, metavar="N-M,...", help=help)
    add("--print-ir-after-failure", action="store_true", help="print the IR when a pass fails")
    help = "print the module, not only the functions of --filter-function"
    add("--print-ir-module-scope", action="store_true", help=help)
    add_names(group, "--filter-function", "print only these functions")
    help = "print what each pass changed as a unified diff"
    add_optional(group, "--print-diff", "auto", ("color", "plain", "auto"), help)
    help = "print which passes run, are skipped and fail, and which analyses are computed"
    add("--debug-pass-manager", action="store_true", help=help)
    help = "print the number of each pass that runs, the one that --opt-bisect gives it"
    add("--print-pass-numbers", action="store_true", help=help)
    help = "write the IR to files in DIR: at the start, and after each pass that changed it"
    add("--dump-ir", type=nonempty_text, metavar="DIR", help=help)
    add("--print-between-passes", action="store_true", help="as --print-ir-after-all")


def _add_style(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("how IR is printed, in the result and on stderr")
    add = group.add_argument
    help = "print dense constants with more than N elements as dense_resource<__elided__>"
    add("--elide-elementsattrs-if-larger", type=size, metavar="N", help=help)
    help = "print dense constants with more than N (100) elements as resources, at the end"
    flag = "--large-elements-as-resources"
    add(flag, action=OptionalValue, const="100", type=size, metavar="N", help=help)
    help = "print no resources whose text has more than N characters"
    add("--elide-resource-strings-if-larger", type=size, metavar="N", help=help)
    add("--print-skip-regions", action="store_true", help="print {...} in place of regions")
    help = "give no two values one name, in the whole of the IR"
    add("--print-unique-ssa-ids", action="store_true", help=help)
    help = "print the users of values in comments"
    add("--print-value-users", action="store_true", help=help)


def _add_measuring(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("measuring, on stderr")
    add = group.add_argument
    help = "how long reading, each pass and analysis, verifying and writing took"
    add_optional(group, "--timing", "tree", ("tree", "list", "json"), help)
    add("--time-passes", dest="timing", action="store_const", const="tree", help="as --timing")
    add("--memory", action="store_true", help="how much memory each pass took; slow")
    help = "where the time of one pass goes (cProfile)"
    add("--profile", type=pass_name, metavar="NAME", help=help)
    help = "write a trace for Perfetto or chrome://tracing"
    add("--trace", type=nonempty_text, metavar="FILE", help=help)
    help = "what each pass counted, and the ops that it made and erased"
    add_optional(group, "--pass-statistics", "text", ("text", "json"), help)
    help = "how many steps passes asked about, and how many were let through"
    add("--print-debug-counter", action="store_true", help=help)


def _add_questions(parser: argparse.ArgumentParser, version: str) -> None:
    group = parser.add_argument_group("questions, in place of a run")
    add = group.add_argument
    add("--list-passes", action="store_true", help="list all passes with their options")
    add("--help-pass", metavar="NAME", help="all about one pass")
    add("--list-dialects", action="store_true", help="list all dialects")
    add("--list-instruments", action="store_true", help="list the instruments")
    add("--list-configs", action="store_true", help="list all keys of --config")
    help = "what would run and what not, and why"
    add("--explain-pipeline", action="store_true", help=help)
    help = "print a script that completes options and passes"
    add("--print-completion", choices=["bash", "zsh"], help=help)
    help = "print the pipeline as text on stderr, and run it"
    add("--dump-pass-pipeline", action="store_true", help=help)
    add("-v", "--version", action="version", version=version)
