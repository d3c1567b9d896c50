"""`passline-report`: renders the record of a run as a page of HTML, or as text."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..passmanager.errors import PasslineError
from ..passmanager.output.files import replace_file
from ..passmanager.report.blame import blame_text, erased_text
from ..passmanager.report.page import diff_text, render_page, statistics_text, timing_text
from ..passmanager.report.record_reader import Record, read_record
from .command_line.argument_parser import (
    ArgumentParser,
    add_completion,
    add_optional,
    add_version,
    nonempty_text,
    written_file,
)
from .failures import run_process
from .output import is_same_file

DAMAGE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError)
"""The errors for events without the fields, or with other values, than those of a run."""

DESCRIPTION = "Show a run that passline-opt --record=FILE.jsonl recorded."


def make_parser() -> ArgumentParser:
    """Return the parser of the options."""
    parser = ArgumentParser(DESCRIPTION)
    parser.usage = "%(prog)s [options] FILE.jsonl"
    add = parser.add_argument
    add("record", metavar="FILE.jsonl", help="the record; '-' is stdin")
    help = "write a page of HTML that needs no server and no network"
    add("-o", "--output-file", type=written_file, metavar="FILE.html", help=help)
    add("--title", default="", metavar="TEXT", help="the title of the page")
    offers: dict[str, list[str]] = {"passes": [], "target": [], "frontend": []}

    def script(shell: str) -> str:
        from .command_line.completion import completion

        return completion(parser, shell, offers)

    add_completion(parser, script)
    add_version(parser)
    texts = parser.add_argument_group("texts, on stdout")
    help = "the time of passes, analyses, verification and phases"
    add_optional(texts, "--timing", "tree", ("tree", "list", "json"), help)
    help = "the counters of each pass, and the ops that it created and erased"
    add_optional(texts, "--pass-statistics", "text", ("text", "json"), help)
    help = "what each pass changed, as a unified diff of each function"
    texts.add_argument("--print-diff", action="store_true", help=help)
    help = "the result, with the pass and pattern that made each operation, and its source line"
    texts.add_argument("--blame", action="store_true", help=help)
    help = "the passes that erased, merged or moved the operations whose line contains TEXT"
    texts.add_argument("--why-erased", type=nonempty_text, metavar="TEXT", help=help)
    return parser


def read(name: str) -> Record:
    """Read a record; PasslineError if the file is none."""
    if name == "-":
        return read_record(sys.stdin)
    try:
        with open(name, encoding="utf-8") as file:
            return read_record(file)
    except UnicodeDecodeError:
        raise PasslineError(f"'{name}' is not a record: it is not text") from None
    except DAMAGE as error:
        raise damaged(name, error) from error
    except PasslineError as error:
        raise PasslineError(f"'{name}': {error}") from None


def render(args: argparse.Namespace) -> None:
    """Read the record and write what the options ask for."""
    record = read(args.record)
    try:
        if record.cut_off:
            print("warning: the record ends before the run does", file=sys.stderr)
        for text in texts(args, record):
            sys.stdout.write(text)
        sys.stdout.flush()
        if args.output_file == "-":
            sys.stdout.write(render_page(record, args.title))
        elif args.output_file:
            replace_file(Path(args.output_file), [render_page(record, args.title)])
    except DAMAGE as error:
        raise damaged(args.record, error) from error


def texts(args: argparse.Namespace, record: Record) -> Iterator[str]:
    """Yield the texts that the options ask for."""
    if args.timing:
        yield timing_text(record, args.timing)
    if args.pass_statistics:
        yield statistics_text(record, args.pass_statistics)
    if args.print_diff:
        yield diff_text(record)
    if args.blame:
        yield blame_text(record)
    if args.why_erased:
        yield erased_text(record, args.why_erased)


def damaged(name: str, error: Exception) -> PasslineError:
    """Return the error for lines of JSON that are not the events of a run."""
    return PasslineError(f"'{name}' is a damaged record: {type(error).__name__}: {error}")


def main(args: Sequence[str] | None = None) -> None:
    """Run the command `passline-report`."""
    run_process(lambda: run(sys.argv[1:] if args is None else args))


def run(args: Sequence[str]) -> None:
    """Read the options and do what they ask for."""
    parser = make_parser()
    given = parser.parse_args(parser.prepare(args))
    asked = (given.timing, given.pass_statistics, given.print_diff, given.blame, given.why_erased)
    if is_same_file(given.record, given.output_file):
        parser.error(f"-o would overwrite the record '{given.record}'")
    if not (given.output_file or any(asked)):
        parser.error("say what to make: -o FILE.html, --timing, --print-diff, ... (see --help)")
    render(given)


if __name__ == "__main__":
    main()
