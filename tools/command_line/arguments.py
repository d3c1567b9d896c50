"""The options of `passline-opt` that `xdsl-opt` does not have, or that replace options of it."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import cast, get_origin

from ...passmanager.config import option_type
from ...passmanager.errors import ConfigError, PasslineError
from ...passmanager.names import name_key
from ...passmanager.option_text import OptionText, from_text
from ...passmanager.releases.targets import MLIRFrontend
from ..extension import ToolExtension
from ..loading import OPTION
from ..specs import check_spec, name_in
from .argument_parser import (
    Chosen,
    Group,
    Numbers,
    OptionalValue,
    add_names,
    add_optional,
    level,
    limit,
    nonempty_text,
    pass_name,
    positive,
    size,
    written_directory,
    written_file,
)


def add_arguments(
    parser: argparse.ArgumentParser,
    targets: Iterable[str],
    frontends: Mapping[str, object],
    extensions: Sequence[ToolExtension],
) -> Group:
    """Add the options in groups; return the group of those that ask for information."""
    _add_input_and_output(parser, targets, frontends, extensions)
    _add_steering(add_pipeline(parser, extensions))
    _add_checks(parser, extensions)
    _add_ir_printing(parser)
    _add_style(parser)
    _add_measuring(parser)
    return _add_questions(parser)


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
    "record",
    "report",
    "log_actions_to",
    "remarks_output",
    "crash_reproducer",
    "local_reproducer",
    "generate_reproducer",
)
"""The options that name a file to write."""


def _flag(option: str) -> str:
    return "--" + option.replace("_", "-")


def check_pipeline_source(args: argparse.Namespace) -> None:
    """Raise PasslineError if both the input and the options give a pipeline."""
    given = {"-p or -O": args.passes or args.opt_level is not None}
    given |= {"--add-pass": args.add_pass, "--replace-pass": args.replace_pass}
    if args.run_reproducer and (options := [option for option, value in given.items() if value]):
        raise PasslineError(f"--run-reproducer takes the pipeline from the input, not {options[0]}")


def check_arguments(args: argparse.Namespace) -> None:
    """Raise PasslineError for arguments that exclude each other."""
    for option in REMARK_OPTIONS.values():
        try:
            re.compile(getattr(args, option) or "")
        except re.error as error:
            raise PasslineError(f"argument {_flag(option)}: {error}") from None
    check_pipeline_source(args)
    if args.emit_bytecode:
        from ..bytecode_output import check_bytecode_output

        check_bytecode_output(args)
    for end in ("stop", "start"):
        if getattr(args, f"{end}_after") and getattr(args, f"{end}_before"):
            raise PasslineError(f"--{end}-after and --{end}-before exclude each other")
    source: str | None = args.input_file
    is_file = source is not None and os.path.isfile(source)
    written = {os.path.realpath(str(source)): "the input"} if is_file else {}
    for option in WRITTEN:
        file: str | None = getattr(args, option)
        if not file or file == "-" or (os.path.exists(file) and not os.path.isfile(file)):
            continue  # a device such as /dev/null may be written twice
        flag = _flag(option)
        if os.path.realpath(file) in written and option == "output_file":
            continue  # the input is read completely before it is replaced
        if (other := written.setdefault(os.path.realpath(file), flag)) != flag:
            if other == "the input":
                raise PasslineError(f"{flag} would overwrite the input '{file}'")
            raise PasslineError(f"{other} and {flag} would both write the file '{file}'")


class TargetOrFormat(argparse.Action):
    """An option that takes one of `processors`, stored as `processor`, or an output format."""

    def __init__(
        self, option_strings: Sequence[str], dest: str, processors: Collection[str], help: str
    ) -> None:
        super().__init__(option_strings, dest, default="mlir", help=help)
        self._processors = processors

    def __call__(self, parser: object, namespace: object, values: object, *_: object) -> None:
        is_processor = name_in(str(values)) in self._processors
        setattr(namespace, "processor" if is_processor else self.dest, str(values))


def add_frontend(group: Group, frontends: Mapping[str, object]) -> None:
    """Add the option that chooses one of `frontends`."""

    def known(text: str) -> str:
        try:
            check_spec("frontend", text, frontends, MLIRFrontend)
        except PasslineError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
        return text

    help = "the frontend that reads the input, by default chosen by the end of the file name: "
    help += ", ".join(frontends) + '; its options follow in braces: onnx{dim="n=4"}'
    group.add_argument("-f", "--frontend", type=known, metavar="NAME", help=help)


def _add_input_and_output(
    parser: argparse.ArgumentParser,
    targets: Iterable[str],
    frontends: Mapping[str, object],
    extensions: Sequence[ToolExtension],
) -> None:
    group = parser.add_argument_group("input and output")
    add_frontend(group, frontends)
    add = group.add_argument
    processors = [name for extension in extensions for name in extension.processors]
    kinds = [extension.processor_help for extension in extensions if extension.processors]
    kinds.append(f"as in xdsl-opt, the output format: one of {', '.join(targets)}")
    action = TargetOrFormat
    add("-t", "--target", action=action, processors=processors, help="; or, ".join(kinds))
    help = "the output file, written only if everything succeeds; '-' is stdout"
    add("-o", "--output-file", type=written_file, metavar="FILE", help=help)
    add("--no-print", action="store_true", help="do not write the result")
    help = "write the result as MLIR's bytecode, to a file or a pipe"
    add("--emit-bytecode", action="store_true", help=help)
    help = "the version of the format of the bytecode, by default that of MLIR 22, 6"
    add("--emit-bytecode-version", type=int, metavar="N", help=help)
    help = "process the parts between lines '// -----' of the input separately"
    add_optional(group, "--split-input-file", "// -----", "MARKER", help)
    help = "the line between the results of the parts"
    add("--output-split-marker", default="// -----", metavar="MARKER", help=help)
    help = "show the remarks of passes or categories whose name matches, by default all"
    add_optional(group, "--remarks", ".*", "REGEX", help)
    for kind, what in {
        "passed": "changes that were made",
        "missed": "changes that were not made",
        "failed": "changes that were tried without success",
        "analysis": "facts that were found",
    }.items():
        help = f"like --remarks, but only remarks on {what}"
        add_optional(group, f"--remarks-{kind}", ".*", "REGEX", help)
    help = "when to show remarks: all at once, or at the end of an input the last one of each place"
    add("--remark-policy", choices=("all", "final"), default="all", help=help)
    help = "write the remarks, all or those of the options above, to FILE in LLVM's YAML"
    add("--remarks-output", type=written_file, metavar="FILE", help=help)
    add("--quiet", action="store_true", help="no progress bar, no warnings, no remarks")
    add("--debug", action="store_true", help="show the traceback when something fails")


def add_pipeline(parser: argparse.ArgumentParser, extensions: Sequence[ToolExtension]) -> Group:
    """Add the options that select passes and set their options; return their group."""
    group = parser.add_argument_group("pipeline")
    add = group.add_argument
    help = "the passes to run: a,b{option=1}; may be repeated; --a is short for -p a"
    flags = ("-p", "--passes", "--pass-pipeline")
    add(*flags, action="append", default=[], metavar="PIPELINE", help=help)
    help = "run the default pipeline at this level, 0 to 3; with -p, the level for -p"
    add("-O", type=level, metavar="LEVEL", dest="opt_level", help=help)
    add_names(group, "--disable-pass", "skip these passes, unless another pass requires them")
    add_names(group, "--require-pass", "run these passes at any level")
    help = "add a pass where its class says that it belongs, or at a place: x{a=1}@after:NAME, "
    help += "@before:NAME or @stage:NAME; may be repeated"
    add("--add-pass", action="append", default=[], metavar="PASS[@PLACE]", help=help)
    help = "run other passes in the place of a pass of the pipeline; may be repeated"
    add("--replace-pass", action="append", default=[], metavar="NAME=PASS", help=help)
    help = "let no passes of other projects take part in pipelines that do not name them"
    add("--no-plugins-in-pipelines", action="store_true", help=help)
    help = "set an option, such as fold-constant.max-elements=64; may be repeated"
    add("--config", action="append", default=[], metavar="KEY=VALUE", help=help)
    help = "run function passes on up to N cores, by default PASSLINE_THREADS or 1; the result is "
    help += "the same"
    add("--threads", type=positive, metavar="N", dest="workers", help=help)
    help = "read options from a TOML file; --config takes precedence"
    add("--config-file", type=nonempty_text, metavar="FILE", help=help)
    help = "load dialects, passes, targets and frontends from a Python file; may be repeated"
    add(OPTION, action="append", default=[], type=nonempty_text, metavar="FILE.py", help=help)
    help = "run the pipeline stored in the input, a file of --crash-reproducer"
    add("--run-reproducer", action="store_true", help=help)
    for extension in extensions:
        extension.add_pipeline_options(group)
    return group


def _add_steering(group: Group) -> None:
    add = group.add_argument
    help = "run at most N passes and list them, as in LLVM; -1 runs all"
    bisect = group.add_mutually_exclusive_group().add_argument
    bisect("--opt-bisect-limit", type=limit, metavar="N", help=help)
    help = "run only the passes with these numbers, such as 1-3,7, and list them"
    bisect("--opt-bisect", type=Numbers, metavar="N-M,...", help=help)
    help = "allow only the actions of a kind with these numbers: rewrite=1-3:7; may be repeated"
    add("--debug-counter", action=Chosen, default={}, metavar="TAG=N-M:...", help=help)
    for end, what in {
        "--stop-after": "stop after",
        "--stop-before": "stop before",
        "--start-after": "start after",
        "--start-before": "start with",
    }.items():
        add(end, type=pass_name, metavar="NAME", help=f"{what} the first pass of this name")


def _add_checks(parser: argparse.ArgumentParser, extensions: Sequence[ToolExtension]) -> None:
    group = parser.add_argument_group("checks")
    add = group.add_argument
    add_verification(group)
    for extension in extensions:
        extension.add_check_options(group)
    help = "check that the printed result parses to the same IR"
    add("--verify-roundtrip", action="store_true", help=help)
    help = "check diagnostics against comments: // expected-error {{text}}"
    add_optional(group, "--verify-diagnostics", "all", ("all", "only-expected"), help)
    help = "if a pass fails, write the input and the pipeline to FILE"
    add("--crash-reproducer", type=written_file, metavar="FILE", help=help)
    help = "like --crash-reproducer, but also if no pass fails"
    add("--generate-reproducer", type=written_file, metavar="FILE", help=help)
    help = "like --crash-reproducer, but with the failed pass and the IR before it only"
    add("--local-reproducer", type=written_file, metavar="FILE", help=help)


def add_verification(group: Group) -> None:
    """Add the options on verification."""
    add = group.add_argument
    help = "verify what each pass changed (on by default)"
    add("--verify-each", action=argparse.BooleanOptionalAction, default=True, help=help)
    help = "verify SSA dominance, which xDSL does not (on by default)"
    add("--verify-dominance", action=argparse.BooleanOptionalAction, default=True, help=help)
    help = "verify neither the input nor what passes change"
    add("--disable-verify", action="store_true", help=help)
    help = "check that passes preserve what they declare"
    add("--verify-preserves", action="store_true", help=help)
    help = (
        "check what passes require and ensure, where the IR changed since the last check, or always"
    )
    add_optional(group, "--check-conditions", "changed", ("never", "changed", "always"), help)


def _add_ir_printing(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("printing of IR and passes, on stderr")
    add = group.add_argument
    add_names(group, "--print-ir-before", "print the IR before these passes")
    add_names(group, "--print-ir-after", "print the IR after these passes")
    add("--print-ir-before-all", action="store_true", help="print the IR before each pass")
    add("--print-ir-after-all", action="store_true", help="print the IR after each pass")
    help = "print the IR at the start, and after each pass that changed it"
    add("--print-ir-after-change", action="store_true", help=help)
    help = "print the IR before the passes with these numbers (see --print-pass-numbers)"
    add("--print-ir-before-pass-number", type=Numbers, metavar="N-M,...", help=help)
    help = "print the IR after the passes with these numbers"
    add("--print-ir-after-pass-number", type=Numbers, metavar="N-M,...", help=help)
    add("--print-ir-after-failure", action="store_true", help="print the IR when a pass fails")
    help = "print the module, not only the functions of --filter-function"
    add("--print-ir-module-scope", action="store_true", help=help)
    help = "print the IR to files in DIR, in folders like the operations"
    add("--print-ir-tree-dir", type=written_directory, metavar="DIR", help=help)
    help = "print IR of a pass that failed in its custom form, even if it is invalid"
    add("--print-assume-verified", action="store_true", help=help)
    add_names(group, "--filter-function", "print and compare only these functions", "FUNCTION,...")
    help = "print what each pass changed as a unified diff"
    add_optional(group, "--print-diff", "auto", ("color", "plain", "auto"), help)
    help = "log which passes run, are skipped or fail, and which analyses are computed"
    add("--debug-pass-manager", action="store_true", help=help)
    help = "log each pass on each operation that it visits to FILE; - is stdout"
    add("--log-actions-to", type=written_file, metavar="FILE", help=help)
    help = "log only passes on the operations at these places"
    add_names(group, "--log-actions-filter", help, "FILE[:LINE[:COLUMN]],...")
    help = "print the number of each pass, as used by --opt-bisect"
    add("--print-pass-numbers", action="store_true", help=help)
    help = "write the IR to files in DIR: the input, and the IR after each pass that changed it"
    add("--dump-ir", type=written_directory, metavar="DIR", help=help)
    add("--print-between-passes", action="store_true", help="same as --print-ir-after-all")
    help = "print the pipeline with all options and the ops that passes visit, before it runs"
    add("--dump-pass-pipeline", action="store_true", help=help)


def _add_style(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("format of IR, in the result and on stderr")
    add = group.add_argument
    help = "print dense constants with more than N elements as dense_resource<__elided__>"
    add("--elide-elementsattrs-if-larger", type=size, metavar="N", help=help)
    help = "print dense constants with more than N elements (100) as resources at the end"
    flag = "--large-elements-as-resources"
    add(flag, action=OptionalValue, const="100", type=size, metavar="N", help=help)
    help = "omit resources with more than N characters"
    add("--elide-resource-strings-if-larger", type=size, metavar="N", help=help)
    add("--print-skip-regions", action="store_true", help="print {...} in place of regions")
    help = "give every value a name that is unique in the whole IR"
    add("--print-unique-ssa-ids", action="store_true", help=help)
    help = "print the users of values in comments"
    add("--print-value-users", action="store_true", help=help)


def _add_measuring(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("measurements, on stderr")
    add = group.add_argument
    help = "show the time of parsing, passes, analyses, verification and printing"
    add_optional(group, "--timing", "tree", ("tree", "list", "json"), help)
    add("--time-passes", dest="timing", action="store_const", const="tree", help="same as --timing")
    add("--memory", action="store_true", help="show the memory that each pass used; slow")
    help = "profile one pass with cProfile"
    add("--profile", type=pass_name, metavar="NAME", help=help)
    help = "write a trace for Perfetto or chrome://tracing"
    add("--trace", type=written_file, metavar="FILE", help=help)
    help = "write a page of HTML that shows what each pass did"
    add("--report", type=written_file, metavar="FILE", help=help)
    help = "record the run as lines of JSON, from which passline-report makes pages and texts"
    add("--record", type=written_file, metavar="FILE", help=help)
    help = "show which pass and pattern made each operation of the result, and its source line"
    add("--blame", action="store_true", help=help)
    help = "show which pass erased, merged or moved the operations whose line contains TEXT"
    add("--why-erased", type=nonempty_text, metavar="TEXT", help=help)
    help = "show the counters of each pass, and the ops that it created and erased; with pipeline: "
    help += "the counters at each place of the pipeline"
    add_optional(group, "--pass-statistics", "text", ("text", "pipeline", "json"), help)
    help = "show how many actions were counted, and how many were allowed"
    add("--print-debug-counter", action="store_true", help=help)


def _add_questions(parser: argparse.ArgumentParser) -> Group:
    group = parser.add_argument_group("information, instead of a run")
    add = group.add_argument
    help = "list all passes by dialect; with all: with their levels, requirements and options"
    add_optional(group, "--list-passes", "short", ("short", "all"), help)
    add("--help-pass", metavar="NAME", help="describe one pass, with an example")
    add("--list-dialects", action="store_true", help="list all dialects")
    add("--list-instruments", action="store_true", help="list the instruments")
    help = "list the conditions that passes require and ensure, and those on any dialect"
    add("--list-conditions", action="store_true", help=help)
    add("--list-configs", action="store_true", help="list the keys of --config")
    help = "show which passes would run, and why others would not; as text, or as a graph of the "
    help += "order, requirements, places and what is preserved"
    add_optional(group, "--explain-pipeline", "text", ("text", "json", "dot"), help)
    return group


# The `config` of a PassContext, from the command line and from TOML files.


def read_config(file: str | None, assignments: Sequence[str]) -> dict[str, object]:
    """Return the options in a TOML file, overridden by assignments `KEY=VALUE`.

    A field of a key is written `key.field`. Errors: ConfigError for invalid TOML, a malformed
    assignment, an unknown key or a value of another type.
    """
    found: dict[str, tuple[str, object]] = {}
    for key, value in _from_file(file) if file is not None else ():
        found[name_key(key)] = key, value
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        if not equals:
            raise ConfigError(f"--config {assignment}: expected KEY=VALUE")
        found[name_key(key)] = key.strip(), _value(key.strip(), text.strip())
    return dict(found.values())


def _value(key: str, text: str) -> object:
    """Parse the value of a key; commas separate the elements of a list."""
    type_ = option_type(key)
    if type_ is None:
        raise ConfigError(f"config option '{key}' has fields: write {key}.FIELD=VALUE")
    parts = text.split(",") if get_origin(type_) is tuple and text else [text] if text else []
    try:
        return from_text([OptionText(part) for part in parts], type_)
    except ValueError as error:
        raise ConfigError(f"config option '{key}': {error}") from None


def _from_file(name: str) -> Iterator[tuple[str, object]]:
    import tomllib

    try:
        with open(name, "rb") as file:
            yield from _flatten(tomllib.load(file), "")
    except ValueError as error:  # of the syntax, of UTF-8, or for a number of too many digits
        raise ConfigError(f"'{name}' is not TOML: {error}") from None
    except RecursionError:
        raise ConfigError(f"'{name}' is nested too deeply") from None


def _flatten(table: Mapping[str, object], prefix: str) -> Iterator[tuple[str, object]]:
    """Yield the values in a table and its nested tables; `[tir.UnrollLoop]` is nested in `tir`."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flatten(cast(dict[str, object], value), f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
