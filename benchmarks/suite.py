"""A FileCheck suite by lit, as it stands and with the two lines of `passline.testing`.

    python benchmarks/suite.py .cache/xdsl-0.75.0/tests/filecheck [--filter REGEX] [-j N]

The suite is copied twice, and `lit.cfg` of the second copy gets the two lines. Times are those of
the clock and of all processes; the latter depend less on what else the machine does. Prints in
which tests verdict or output differ, and fails if there are any.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

FORMAT = re.compile(r"^(.*)\b(\w+\.)?test_format = lit\.formats\.ShTest\(", re.MULTILINE)
PR_SET_CHILD_SUBREAPER = 36


class SuiteRun(NamedTuple):
    """A run of lit: the verdict and output of each test, seconds of the clock and of processors."""

    tests: Mapping[str, tuple[str, str]]
    wall: float
    processors: float


def main() -> None:
    """Measure the suite that the command line names."""
    parser = argparse.ArgumentParser(description="Run a FileCheck suite by lit, plain and warm.")
    parser.add_argument("suite", type=Path, help="the folder with lit.cfg or lit.cfg.py")
    parser.add_argument("--filter", default="", help="run the tests whose path matches this alone")
    parser.add_argument("-j", dest="workers", default=2, type=int)
    options = parser.parse_args()
    # The warm process outlives lit by a moment: its time counts, too.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    with tempfile.TemporaryDirectory() as folder:
        # Both copies are in turn at the same place, which lit prints; some tests check its end.
        place = Path(folder).joinpath(*options.suite.absolute().parts[-2:])
        runs = [measure(options, place, warm) for warm in (False, True)]
    plain, warm = runs
    wall, processors = warm.wall / plain.wall, warm.processors / plain.processors
    print(f"ratio: {wall:.3f} of the wall time, {processors:.3f} of the processors' time")
    differ = sorted(name for name in plain.tests if plain.tests[name] != warm.tests.get(name))
    for name in differ:
        print(f"differs: {name}: {plain.tests[name][0]}, {warm.tests.get(name, ('none',))[0]}")
    print(f"{len(plain.tests)} tests, {len(differ)} differ")
    sys.exit(bool(differ))


def measure(options: argparse.Namespace, place: Path, warm: bool) -> SuiteRun:
    """Copy the suite to `place`, run lit on it, and print how long that took."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(options.suite, place, ignore=shutil.ignore_patterns("Output", "__pycache__"))
    if warm:
        turn_warm(place)
    report = place.parent / "report.json"
    lit = Path(sys.executable).with_name("lit")
    environment = {name: os.environ[name] for name in os.environ if not name.startswith("PYTHON")}
    environment["PATH"] = os.pathsep.join([str(lit.parent), environment["PATH"]])
    command = [lit, "-q", f"-j{options.workers}", f"--filter={options.filter}", "-o", report, place]
    start, used = time.perf_counter(), _used()
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=False)
    wall = time.perf_counter() - start
    _reap()
    result = SuiteRun(_tests(report), wall, _used() - used)
    name = "warm" if warm else "plain"
    print(f"{name}: {result.wall:.1f} s, {result.processors:.1f} s of processors", flush=True)
    return result


def turn_warm(suite: Path) -> None:
    """Put the two lines into the configuration of a suite."""
    path = next(path for name in ("lit.cfg.py", "lit.cfg") if (path := suite / name).exists())
    text = FORMAT.sub(r"\1test_format = passline.testing.LitFormat(", path.read_text())
    path.write_text(
        text.replace("import lit.formats", "import lit.formats\nimport passline.testing")
    )


def _tests(report: Path) -> dict[str, tuple[str, str]]:
    """Return verdict and output of each test in lit's report; times in it are left out."""
    tests = json.loads(report.read_text())["tests"]
    return {test["name"]: (test["code"], test["output"]) for test in tests}


def _used() -> float:
    """Return the seconds of processors of all processes that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def _reap() -> None:
    """Wait for all processes that lit has left behind."""
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return


if __name__ == "__main__":
    main()
