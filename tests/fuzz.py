"""Random networks, and whether they compute the same on the whole way to machine code.

    make fuzz [SEED=N] [COUNT=N] [SECONDS=N] [OPTIONS="..."]     # needs mlir-opt

Each seed is a network (`tests/support/networks.py`) and a way (`tests/support/stages.py`). What
fails is printed with the command that does it again; the exit status is 1 then.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from random import Random
from time import perf_counter
from traceback import format_exception

from passline.passmanager.errors import PasslineError

sys.path.insert(0, str(Path(__file__).parent))

from support.networks import random_network
from support.stages import Mismatch, check_way, random_way


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--seed", type=int, default=0, help="the first one")
    parser.add_argument("--count", type=int, default=1_000_000, help="how many")
    parser.add_argument("--seconds", type=float, default=600, help="start none after these")
    parser.add_argument("--parts", type=int, default=12, help="of a network; fewer are its start")
    parser.add_argument("--each", action="store_true", help="interpret after each pass: slow")
    parser.add_argument("--print", action="store_true", help="print networks, do not run them")
    args = parser.parse_args()
    start, done, failed = perf_counter(), 0, 0
    for seed in range(args.seed, args.seed + args.count):
        if perf_counter() - start > args.seconds:
            break
        network, way = random_network(seed, args.parts), random_way(Random(seed))
        if args.print:
            print(f"// -p '{way}'\n{network.module}")
            continue
        done += 1
        try:
            check_way(network, way, args.each)
        except Exception as error:
            failed += 1
            known = isinstance(error, Mismatch | PasslineError)
            what = str(error) if known else "".join(format_exception(error))
            again = f"--parts {args.parts}" + " --each" * args.each
            print(f"\nseed {seed}: -p '{way}'\n{what}", file=sys.stderr)
            print(f'again: make fuzz SEED={seed} COUNT=1 OPTIONS="{again}"', file=sys.stderr)
        print(f"\r{done} networks, {failed} failed", end="", file=sys.stderr)
    print(file=sys.stderr)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
