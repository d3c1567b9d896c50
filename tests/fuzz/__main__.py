"""Check random modules and pipelines, or a failure that was saved.

    make fuzz [MINUTES=10] [SEED=N] [CASES=N]
    python -m fuzz build/fuzz/failure.mlir

Without SEED another one is drawn each time. Each kind of failure is shrunk and saved under
`build/fuzz`, as a test with the pipeline in its RUN line, and printed with the command that finds
it again; the exit status is 1 then. One module in 16 is compiled to
machine code.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from random import SystemRandom

from support.native.needs_llvmlite import has_native

from .cases import cases, native_cases
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
    drawn = [*[cases()] * 15, native_cases() if has_native() else cases()]
    search = Search(drawn, Path("build/fuzz"))
    try:
        search.run(first, args.cases, 60 * args.minutes)
    except KeyboardInterrupt:
        print("interrupted")
    print(*search.summary(), sep="\n")
    return bool(search.failures)


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path, help="failures to check again")
    parser.add_argument("--minutes", type=float, default=10, help="when to start no more")
    parser.add_argument("--seed", type=int, help="the first seed")
    parser.add_argument("--cases", type=int, default=10**9, help="the number of modules")
    return parser


if __name__ == "__main__":
    sys.exit(main())
