"""The lines `// RUN:` of a FileCheck test: their commands, and the pipelines in them."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_RUN = re.compile(r"^[ \t]*(?://|;|#)[ \t]*RUN:[ \t]*(.*?)[ \t]*$", re.MULTILINE)
_PIPELINE = ("-p", "--passes", "--pass-pipeline", "-pass-pipeline")


class RunLine(NamedTuple):
    """A command of a test, and the lines, from 0, on which it stands."""

    command: str
    line: int
    last: int

    @property
    def filtered(self) -> str:
        """The command without the FileCheck at its end: what it prints is the output."""
        return re.sub(r"\|\s*[^|]*\b(?:filecheck|FileCheck)\b[^|]*$", "", self.command).strip()

    @property
    def pipeline(self) -> str:
        """The pipeline that the command gives to the tool; empty if it gives none."""
        try:
            words = shlex.split(self.filtered)
        except ValueError:  # a quote that is not closed
            return ""
        found: list[str] = []
        for number, word in enumerate(words):
            flag, equals, value = word.partition("=")
            if flag in _PIPELINE and equals:
                found.append(value)
            elif flag in _PIPELINE and number + 1 < len(words):
                found.append(words[number + 1])
            elif word.startswith("-p") and word[2:3] not in ("", "r", "a"):
                found.append(word[2:])
        return ",".join(found)


def run_lines(text: str) -> Iterator[RunLine]:
    """Yield the commands of a test; a backslash continues one on the next RUN line."""
    parts: list[str] = []
    first = 0
    for match in _RUN.finditer(text):
        line = text.count("\n", 0, match.start())
        first = first if parts else line
        if match[1].endswith("\\"):
            parts.append(match[1][:-1].rstrip())
            continue
        yield RunLine(" ".join([*parts, match[1]]), first, line)
        parts = []


def shell_command(command: str, file: str, temporary: str) -> list[str]:
    """Return the words of a shell that runs a command of a test as lit does: `%s` is the file,
    `%S` its folder, `%t` a temporary file; tools beside this Python come first on the PATH."""
    places = {
        "%%": "%",
        "%s": shlex.quote(file),
        "%S": shlex.quote(os.path.dirname(file)),
        "%p": shlex.quote(os.path.dirname(file)),
        "%t": shlex.quote(temporary),
        "%T": shlex.quote(os.path.dirname(temporary)),
    }
    text = re.sub(r"%%|%[sSptT](?!\w)", lambda match: places[match[0]], command)
    path = f"export PATH={shlex.quote(str(Path(sys.executable).parent))}:$PATH"
    return ["/bin/bash", "-c", f"set -o pipefail; {path}; {text}"]
