"""Check random modules and pipelines, or a failure that was saved.

    make fuzz [MINUTES=10] [SEED=N] [CASES=N]
    python -m fuzz build/fuzz/failure.mlir

Without SEED another one is drawn each time. Each kind of failure is shrunk and saved under
`build/fuzz`, as a test with the pipeline in its RUN line, and printed with the command that finds
it again; the exit status is 1 then. One module in 16 is compiled to machine code, and one to tile
programs, which run on numpy with a check of races; `--engine` draws modules of one kind alone.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from random import SystemRandom

from hypothesis.strategies import SearchStrategy
from support.native.needs_llvmlite import has_native

from .cases import Case, cases, native_cases, tile_cases
from .properties import check_case
from .saving import load
from .search import Search


def main() -> int:
    """Run what the command line asks for; return the exit status."""
    args = make_parser().parse_args()
    if args.files:
        for path in args.files:
            print(f"{path}: {check_case(load(path))}")
        return 0
    first = SystemRandom().randrange(1 << 30) if args.seed is None else args.seed
    print(f"seed {first}", flush=True)
    options = "" if args.engine == "all" else f" OPTIONS=--engine={args.engine}"
    search = Search(KINDS[args.engine](), Path("build/fuzz"), options)
    try:
        search.run(first, args.cases, 60 * args.minutes)
    except KeyboardInterrupt:
        print("interrupted")
    print(*search.summary(), sep="\n")
    return bool(search.failures)


def all_cases() -> list[SearchStrategy[Case]]:
    """Return the strategies from which modules are drawn in turn."""
    return [*[cases()] * 14, native_cases() if has_native() else cases(), tile_cases()]


KINDS: Mapping[str, Callable[[], list[SearchStrategy[Case]]]] = {
    "all": all_cases,
    "numpy": lambda: [cases()],
    "native": lambda: [native_cases()],
    "cuda-interpreter": lambda: [tile_cases()],
}


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path, help="failures to check again")
    parser.add_argument("--minutes", type=float, default=10, help="when to start no more")
    parser.add_argument("--seed", type=int, help="the first seed")
    parser.add_argument("--engine", choices=[*KINDS], default="all", help="the kind of modules")
    parser.add_argument("--cases", type=int, default=10**9, help="the number of modules")
    return parser


if __name__ == "__main__":
    sys.exit(main())
