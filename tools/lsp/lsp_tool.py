"""`passline-lsp`: a language server for MLIR with the dialects of any xDSL project."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ...passmanager.limits import recursion_limit
from ..command_line.argument_parser import ArgumentParser, add_completion, add_version
from ..failures import run_process

DESCRIPTION = (
    "Serve an editor by the language server protocol, on standard input and output: errors while "
    "typing, hover, definitions, completion, and passes to run. Editors start it themselves."
)


def make_parser() -> ArgumentParser:
    """Return the parser of the options."""
    parser = ArgumentParser(DESCRIPTION)
    parser.usage = "%(prog)s [options]"
    add = parser.add_argument
    help = "a Python file with dialects and passes, beside those that are installed; repeatable"
    add("--load", action="append", default=[], metavar="FILE.py", help=help)
    help = (
        "the command of a project, as my-opt, or MODULE:CLASS of its xDSLOptMain, whose dialects "
        "and passes are taken in the place of those that are installed"
    )
    add("--tool", default="", metavar="COMMAND", help=help)
    help = "take operations, types and attributes of dialects that are not known"
    add("--allow-unregistered-dialect", action="store_true", help=help)
    add("--stdio", action="store_true", help="the only way to talk; for editors that say so")
    offers: dict[str, list[str]] = {"passes": [], "target": [], "frontend": []}

    def script(shell: str) -> str:
        from ..command_line.completion import completion

        return completion(parser, shell, offers)

    add_completion(parser, script)
    add_version(parser)
    return parser


def main(args: Sequence[str] | None = None) -> None:
    """Run the command `passline-lsp`."""
    run_process(lambda: run(sys.argv[1:] if args is None else args))


def run(args: Sequence[str]) -> None:
    """Read the options and serve."""
    parser = make_parser()
    given = parser.parse_args(parser.prepare(args))
    from .known_dialects import KnownDialects
    from .requests import serve

    sys.setrecursionlimit(recursion_limit())
    allows: bool = given.allow_unregistered_dialect
    serve(KnownDialects(given.load, given.tool, allow_unregistered=allows))


if __name__ == "__main__":
    main()
