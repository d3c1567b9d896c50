"""MLIR's own tests of pass managers, `mlir/test/Pass` of its sources, with passline-opt in place of
mlir-opt.

    PASSLINE_MLIR_PASS_TESTS=FOLDER python tests/conformance/mlir_pass_tests.py [-v] [name ...]

The options of RUN lines are translated as `docs/coming-from-mlir.md` says; the passes are those of
`support/passes/mlir_test_passes.py`. A line is `same` if it passes with MLIR's CHECK lines, and
`other text` if it passes with the changes of these lines in `TEXTS`, or with the CHECK lines in
`mlir_pass_texts.py`.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

from conformance.mlir_pass_texts import CHECKS
from support.suites.inprocess import Result, filecheck, passline_opt, run_lines

__all__ = ["VARIABLE", "LineResult", "Verdict", "run_file", "suite"]

VARIABLE = "PASSLINE_MLIR_PASS_TESTS"
"""The environment variable with the folder of MLIR's tests."""

PLUGIN = Path(__file__).parents[1] / "support" / "passes" / "mlir_test_passes.py"


class Verdict(IntEnum):
    """The result of a RUN line, and that of a file, which is its worst."""

    SAME = 0
    OTHER_TEXT = 1
    DIFFERENT = 2


class LineResult(NamedTuple):
    """The verdict on a RUN line, with the line as it was run and what it said if it failed."""

    verdict: Verdict
    line: str
    said: str = ""


def suite() -> list[Path]:
    """Return MLIR's tests; none without the variable."""
    folder = os.environ.get(VARIABLE)
    return sorted(Path(folder).glob("*.mlir")) if folder else []


def run_file(path: Path) -> list[LineResult]:
    """Run the RUN lines of a file, on a copy with MLIR's CHECK lines, then on one with ours."""
    with tempfile.TemporaryDirectory() as scratch:
        same, other = Path(scratch, "same", path.name), Path(scratch, "other", path.name)
        for copy, lines in (same, _read(path)), (other, _changed_lines(path)):
            copy.parent.mkdir()
            copy.write_text("\n".join(lines))
        return [_run_line(line, (same, other), Path(scratch)) for line in run_lines(path)]


def _read(path: Path) -> list[str]:
    """Return the lines of a file, with the suffixes of CHECK lines as our filecheck reads them."""
    text = path.read_text()
    return re.sub(r"\{LITERAL\}(-NEXT|-SAME|-NOT|-DAG)", r"\1{LITERAL}", text).split("\n")


# Lines

TEXTS = {
    r"expected-\w+@below \{\{(Failures have been detected|Pipeline failed while).*": "",
    r"@\+1 \{\{'builtin.module' op Trying to schedule.*": (
        "@unknown {{pass 'test-dynamic-pipeline' runs on a part of 'builtin.module'}}"
    ),
    r"trying to schedule (pass '\S+') on an unsupported operation": (
        r"\1 cannot run on this 'builtin.module'"
    ),
    r"'some_unknown_func' does not reference a valid function": (
        "'@some_unknown_func' could not be found in symbol table"
    ),
    r"\bTestDynamicPipelinePass\b": "test-dynamic-pipeline",
    r"\{gen-diagnostics=false\}": "",
    r"\bTestModulePass\b": "test-module-pass",
    r"\bTestFunctionPass\b": "test-function-pass",
    r"\bTestInterfacePass\b": "test-interface-pass",
    r"\bTestStatisticPass\b": "test-stats-pass",
    r"\bTestFailurePass Failed \(test-pass-failure\)": (
        "test-pass-failure: func.func(test-pass-failure) Failed"
    ),
    r"\bTestLivenessPass\b": "test-print-liveness",
    r"\bCSE \(cse\)": "cse: func.func(cse)",
    r"\bCanonicalizer \(canonicalize\)": "canonicalize: func.func(canonicalize)",
    r"\bCSE\b": "cse",
    r"\bCanonicalizer\b": "canonicalize",
    r"(?<![.\w])func (?=@)": "func.func ",
    r"\}\)`$": "})",
    r"begins \(no breakpoint\) Action": "begins Action",
    r"\(module \{": "(builtin.module {",
    r'(?:(Reason="[^"]*"), )?(Remark="[^"]*")(, Suggestion=.*)?$': (
        r'Function=foo | \2, Op="test.op", \1\3'
    ),
    r", $": "",
    r"(?<![\w.@])module (?=@)": "builtin.module ",
    r"(?<=\(string\)=)$": "",
}
"""MLIR's text in CHECK lines -> ours: the names of passes, and names of ops in full."""

OWN_CHECK = re.compile(
    r"^(\s*//\s*)([A-Z][A-Z0-9_-]*?)((?:-(?:NEXT|SAME|NOT|DAG))?(?:\{LITERAL\})?:.*)"
)


def _changed_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a file with our text in CHECK lines; ours for a prefix take the place of
    MLIR's, at the end."""
    own = CHECKS.get(path.name, {})
    for line in _read(path):
        match = OWN_CHECK.match(line)
        if (match is None and "// expected-" not in line) or (match and match[2] == "RUN"):
            yield line
        elif match is not None and match[2] in own:
            yield "//"
        else:
            for pattern, text in TEXTS.items():
                line = re.sub(pattern, text, line)
            yield line
    for prefix, (_, checks) in own.items():
        yield from (f"// {check}" for check in _checks(prefix, checks))


def _checks(prefix: str, text: str) -> Iterator[str]:
    """Yield CHECK lines: the first text anywhere, those after `+` on the next line, after `-` none
    before the next."""
    for line in filter(None, text.split("\n")):
        kind = {"+": "-NEXT", "-": "-NOT", "&": "-DAG"}.get(line[:1], "")
        yield f"{prefix}{kind}{{LITERAL}}: {line[bool(kind) :].strip()}"


def _run_line(line: str, copies: Sequence[Path], scratch: Path) -> LineResult:
    translated = _translated(line)
    texts = translated.replace("%t", str(scratch / "out"))
    if not translated:
        return LineResult(Verdict.SAME, line)
    results: list[Result] = []
    for checks in copies:
        result = _run(texts.replace("%s", str(checks)), checks)
        if result.status == 0:
            ends = translated.startswith("not ") and not line.startswith("not ")
            return LineResult(max(Verdict(len(results)), Verdict(int(ends))), translated)
        results.append(result)
    return LineResult(Verdict.DIFFERENT, translated, f"{results[-1].stderr}{results[-1].stdout}")


OPTIONS: Sequence[tuple[str, str]] = (
    (r"--?mlir-disable-threading(=\w+)? ?", ""),
    (r"--?mlir-timing (.*)--?mlir-output-format=json", r"--timing=json \1"),
    (
        r"--?mlir-timing-display=\w+ --timing=json|--timing=json --?mlir-timing-display=\w+",
        "--timing=json",
    ),
    (r"--?mlir-timing --?mlir-timing-display=(\w+)", r"--timing=\1"),
    (r"--?mlir-pass-statistics --?mlir-pass-statistics-display=list", "--pass-statistics"),
    (
        r"--?mlir-pass-statistics --?mlir-pass-statistics-display=pipeline",
        "--pass-statistics=pipeline",
    ),
    (
        r"--?mlir-pass-pipeline-crash-reproducer=(\S+)(.*) --?mlir-pass-pipeline-local-reproducer",
        r"--local-reproducer=\1\2",
    ),
    (r"--?mlir-pass-pipeline-crash-reproducer=", "--crash-reproducer="),
    (r"--?remarks-filter-analyse=", "--remarks-analysis="),
    (r"--?remarks-filter(-\w+)?=", r"--remarks\1="),
    (r"--?remark-format=yaml ", ""),
    (r"--?remarks-output-file=", "--remarks-output="),
    (r"--?profile-actions-to=-(.*) FileCheck %s", r"--trace=%t\1 FileCheck %s < %t"),
    (r"-(-test-[\w-]*pipeline)\b", r"\1"),
    (r"(?<= )--?mlir-", "--"),
    (r"(?<= )--?log-mlir-", "--log-"),
    (r"""--implicit-check-not=("[^"]*"|\S+)""", ""),
    (r"-(test-function-pass) --pass-pipeline-anchor=([\w.]+)", r"-p '**\2(\1)'"),
)


def _translated(line: str) -> str:
    """Return a RUN line with our options."""
    if line.startswith("export "):
        return ""
    if "=test-pass-crash" in line or "test-pass-crash)" in line:  # it ends the process
        line = f"not {line}"
    for pattern, text in OPTIONS:
        line = re.sub(pattern, text, line)
    return line


def _run(line: str, checks: Path) -> Result:
    """Run a line; FileCheck reads the CHECK lines of the file `checks`."""
    if "mlir-opt" not in line and "FileCheck" not in line:
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
        return Result(done.returncode, done.stdout, done.stderr)
    text, failed, said = "", 0, ""
    for stage in re.split(r"(?<=\s)\|(?=\s)", line):
        words = shlex.split(stage)
        inverted, merged = words[0] == "not", "2>&1" in words
        words = [word for word in words[inverted:] if word != "2>&1"]
        result = _run_stage(words, text, checks)
        text = f"{result.stderr}{result.stdout}" if merged else result.stdout
        said = result.stderr
        failed = failed or int((result.status == 0) if inverted else result.status)
    return Result(failed, text, said)


def _run_stage(words: list[str], stdin: str, checks: Path) -> Result:
    command, *args = words
    if command == "FileCheck":
        if "<" in args:
            at = args.index("<")
            stdin = Path(args[at + 1]).read_text()
            del args[at : at + 2]
        args = [str(checks) if Path(arg).name == checks.name else arg for arg in args]
        try:
            return filecheck(args, stdin)
        except Exception as error:
            return Result(2, "", f"filecheck: {type(error).__name__}: {error}")
    if command == "cat":
        return Result(0, Path(args[0]).read_text() if Path(args[0]).exists() else "", "")
    args = [f"--load={PLUGIN}", *args]
    if "test-pass-crash" in " ".join(args):  # it would end this process
        tool = [str(Path(sys.executable).parent / "passline-opt"), *args]
        done = subprocess.run(tool, input=stdin, capture_output=True, text=True)
        return Result(done.returncode, done.stdout, done.stderr)
    return passline_opt(*args, stdin=stdin)


def main() -> None:
    """Run the files that the arguments name, by default all, and count."""
    names = [word for word in sys.argv[1:] if word != "-v"]
    counts: Counter[str] = Counter()
    for path in suite():
        if names and not any(name in path.name for name in names):
            continue
        results = run_file(path)
        verdict = max(result.verdict for result in results)
        counts[verdict.name] += 1
        lines = Counter(result.verdict.name for result in results)
        print(f"{path.name}: {verdict.name} ({dict(lines)})", flush=True)
        for result in results:
            if "-v" in sys.argv and result.verdict is Verdict.DIFFERENT:
                print(f"  {result.line}\n{result.said[-3000:]}", flush=True)
    print(dict(counts))


if __name__ == "__main__":
    main()
