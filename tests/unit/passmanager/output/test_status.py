"""The line on the terminal that says what a command is doing."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

PROGRAM = """
import sys, time
from passline.passmanager.diagnostics import Severity, print_message
from passline.passmanager.output import status

status._DELAY = status._INTERVAL = 0.01
seen = status.threading.Event()

def half():
    seen.set()
    return 0.5

with status.status_on_terminal(), status.doing("reading", half):
    seen.wait(10 if sys.stderr.isatty() else 0)
    assert {t.name for t in status.threading.enumerate()} <= {"MainThread", status.THREAD}
    status._DELAY = 1e9  # it is not drawn again
    time.sleep(0.1)
    print_message(Severity.WARNING, "said meanwhile")
print("done", file=sys.stderr)
"""


def test_line_is_drawn_and_erased_before_other_output():
    parent, child = pty.openpty()
    environment = os.environ | {"NO_COLOR": "1", "COLUMNS": "80"}
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, stderr=child, env=environment, timeout=60)
    os.close(child)
    shown = os.read(parent, 1 << 16).decode().replace("\r\n", "\n")
    os.close(parent)
    assert done.returncode == 0, shown
    *drawn, rest = shown.split("\r\x1b[2K")
    assert drawn[0] == "" and set(drawn[1:]) == {"reading 50 % (0 s)"}
    assert rest == "warning: said meanwhile\ndone\n"


def test_nothing_is_drawn_where_stderr_is_no_terminal():
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "warning: said meanwhile\ndone\n")
