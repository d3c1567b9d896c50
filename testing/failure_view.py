"""The view of a failed FileCheck test: RUN line, messages of its commands, CHECK line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from _pytest._code.code import ReprFileLocation, TerminalRepr
from _pytest._io import TerminalWriter

__all__ = ["FailureView"]

_RUN = re.compile(r"# RUN: at line (\d+)")
_BOX = re.compile(r"# \| ?(.*)")
_ERROR = re.compile(r"(.*?):(\d+)(?::\d+)?:? .*")
_COLOURS = {
    re.compile(r"error:|^[^:]*: (?:FAIL|XPASS|TIMEOUT|UNRESOLVED|not updated)"): "red",
    re.compile(r"^\s*\^[\^~]*$|note:|Possible intended match"): "green",
    re.compile(r"^ *>? *\d+ \| "): "cyan",
}


class FailureView(TerminalRepr):
    """The text of a failure, with pytest's colours on a terminal."""

    def __init__(self, path: str, line: int, message: str, text: str) -> None:
        self._data = (path, line, message, text)
        self.text = text
        self.reprcrash = ReprFileLocation(path, line, message)

    @classmethod
    def of_output(cls, source: Path, shown: str, code: str, output: str) -> FailureView:
        """Return the view of a test of the file `source` with the output that lit gives."""
        lines = source.read_text(errors="replace").splitlines()
        run, messages = _messages(output)
        text: list[str] = [f"{shown}: {code}"]
        if run is not None and run <= len(lines):
            text.append(f"{shown}:{run}: {lines[run - 1].strip()}")
        line, message = run or 1, ""
        is_rewritten = (
            ":" in code
        )  # "not updated: ...": the messages are not about the file as it is
        for part, following in zip(messages, [*messages[1:], ""]):
            text.append(part.replace(str(source), shown))
            found = _ERROR.match(part)
            if found and found[1] == str(source) and "error:" in part:
                line, message = int(found[2]), message or part.replace(str(source), shown)
                if not is_rewritten and not _shows(following, lines, line):
                    text += _excerpt(lines, line)
        if is_rewritten:
            message = code
        first = next((part.strip() for part in messages if part.strip()), code)
        return cls(shown, line, message or first, "\n".join(text))

    def data(self) -> tuple[str, int, str, str]:
        """Return the arguments that make this object again."""
        return self._data

    def __str__(self) -> str:
        return self.text

    def toterminal(self, tw: TerminalWriter) -> None:
        for line in self.text.splitlines():
            colour = next((name for pattern, name in _COLOURS.items() if pattern.search(line)), "")
            tw.line(line, **({colour: True} if colour else {}))


def _messages(output: str) -> tuple[int | None, list[str]]:
    """Return the line of the last RUN line that lit began, and what its commands printed; all of
    the output if it does not look like lit's."""
    run: int | None = None
    messages: list[str] = []
    for line in output.splitlines():
        if (begin := _RUN.fullmatch(line.strip())) is not None:
            run, messages = int(begin[1]), []
        elif (box := _BOX.fullmatch(line)) is not None:
            messages.append(box[1])
        elif line.startswith("# error: "):
            messages.append(line.removeprefix("# "))
    return (run, messages) if messages else (run, output.splitlines())


def _shows(text: str, lines: list[str], line: int) -> bool:
    """Return whether a text is a line of the file, as LLVM's FileCheck prints it."""
    return 0 < line <= len(lines) and text.strip() == lines[line - 1].strip()


def _excerpt(lines: list[str], line: int) -> Iterator[str]:
    """Yield a line of the file with its neighbours."""
    for number in range(max(1, line - 1), min(len(lines), line + 1) + 1):
        yield f"{'>' if number == line else ' '} {number:4} | {lines[number - 1]}"
