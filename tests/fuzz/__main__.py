"""Compare random networks with numpy at the stages of a random lowering to machine code.

    make fuzz [SEED=N] [COUNT=N] [SECONDS=N] [OPTIONS="..."]     # needs mlir-opt

A seed determines a network (`support.networks`) and a lowering (`support.lowering`). A failure is
printed with the command that reproduces it; the exit status is 1 then.
"""

from __future__ import annotations

import argparse
import sys
from random import Random
from time import perf_counter
from traceback import format_exception

from support.lowering import Lowering, Mismatch, check_lowering, random_lowering
from support.networks import random_network

from passline.passmanager.errors import PasslineError


def main() -> int:
    """Run the seeds that the command line asks for; return the exit status."""
    args = make_parser().parse_args()
    start, done, failed = perf_counter(), 0, 0
    for seed in range(args.seed, args.seed + args.count):
        if perf_counter() - start > args.seconds:
            break
        network, lowering = random_network(seed, args.parts), random_lowering(Random(seed))
        if args.print:
            print(f"// -p '{lowering}'\n{network.module!s}")
            continue
        done += 1
        try:
            check_lowering(network, lowering, args.each)
        except Exception as error:
            failed += 1
            report(error, seed, lowering, f"--parts {args.parts}" + " --each" * args.each)
        print(f"\r{done} networks, {failed} failed", end="", file=sys.stderr)
    print(file=sys.stderr)
    return failed > 0


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__, allow_abbrev=False)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=1_000_000, help="the number of seeds")
    parser.add_argument("--seconds", type=float, default=600, help="when to start no more")
    parser.add_argument("--parts", type=int, default=12, help="the parts of each network")
    parser.add_argument("--each", action="store_true", help="interpret after each pass: slow")
    parser.add_argument("--print", action="store_true", help="print networks, do not run them")
    return parser


def report(error: Exception, seed: int, lowering: Lowering, options: str) -> None:
    """Print a failure with the command that reproduces it."""
    known = isinstance(error, Mismatch | PasslineError)
    text = str(error) if known else "".join(format_exception(error))
    print(f"\nseed {seed}: -p '{lowering}'\n{text}", file=sys.stderr)
    print(f'again: make fuzz SEED={seed} COUNT=1 OPTIONS="{options}"', file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
