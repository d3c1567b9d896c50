"""The streams of a process: every byte is written, or an error says that it was not."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from support.tables import table_test

from passline.passmanager.output.status import CompleteFile, complete_streams

SIZE = 1 << 20  # more than a pipe holds

needs_full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")


def drain(handle: int, into: bytearray) -> threading.Thread:
    """Read all of a pipe in another thread."""

    def read() -> None:
        with os.fdopen(handle, "rb") as file:
            into.extend(file.read())

    thread = threading.Thread(target=read)
    thread.start()
    return thread


@table_test("blocking", [True, False])
def test_a_pipe_gets_all_bytes(blocking: bool) -> None:
    reader, writer = os.pipe()
    os.set_blocking(writer, blocking)
    data, received = os.urandom(SIZE), bytearray()
    thread = drain(reader, received)
    assert CompleteFile(writer).write(data) == SIZE
    os.close(writer)
    thread.join()
    assert received == data


def test_closing_leaves_the_file_open() -> None:
    reader, writer = os.pipe()
    CompleteFile(writer).close()
    os.write(writer, b"x")
    assert os.read(reader, 1) == b"x"
    os.close(reader)
    os.close(writer)


def test_the_first_failure_is_kept_and_raised_once() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    file = CompleteFile(writer)
    with pytest.raises(BrokenPipeError):
        file.write(b"x")
    assert file.write(b"yz") == 2 and isinstance(file.failure, BrokenPipeError)
    os.close(writer)


def test_a_stream_that_is_not_that_of_the_process_stays(capsys: pytest.CaptureFixture[str]) -> None:
    before = sys.stdout, sys.stderr
    with complete_streams():
        assert (sys.stdout, sys.stderr) == before
        print("x")
    assert capsys.readouterr().out == "x\n"


def python(code: str, redirection: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a body inside `complete_streams`, in a process of its own."""
    body = "\n        ".join(code.splitlines())
    script = f"""
import sys
from passline.passmanager.output.status import complete_streams
try:
    with complete_streams():
        {body}
except OSError as error:
    sys.exit(f"caught {{error.strerror}}")
"""
    return subprocess.run(
        ["bash", "-c", f"{sys.executable} - {redirection}"],
        input=script,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )


UNBUFFERED = pytest.mark.parametrize("unbuffered", ["", "1"])


@needs_full
@UNBUFFERED
@pytest.mark.parametrize(
    "code",
    [
        "print('x')",
        f"print('x' * {SIZE})",
        "print('x'); sys.exit(0)",
        # argparse writes --help so
        f"try: sys.stdout.write('x' * {SIZE})\nexcept OSError: pass\nsys.exit()",
    ],
)
def test_a_full_disk_is_an_error(code: str, unbuffered: str) -> None:
    done = python(code, ">/dev/full", PYTHONUNBUFFERED=unbuffered)
    assert (done.returncode, done.stderr) == (1, "caught No space left on device\n")


@needs_full
def test_another_failure_takes_precedence() -> None:
    done = python("print('x'); sys.exit(7)", ">/dev/full", PYTHONUNBUFFERED="")
    assert (done.returncode, done.stderr) == (7, "")


@UNBUFFERED
def test_what_is_printed_before_a_failure_is_written(unbuffered: str) -> None:
    done = python("print('x'); sys.exit('said')", "", PYTHONUNBUFFERED=unbuffered)
    assert (done.returncode, done.stdout, done.stderr) == (1, "x\n", "said\n")


@UNBUFFERED
def test_slow_and_closed_pipes(unbuffered: str, tmp_path: Path) -> None:
    code = f"sys.stdout.write('x' * {SIZE})"
    slow = python(code, "| (sleep 0.1; wc -c)", PYTHONUNBUFFERED=unbuffered)
    assert slow.stdout.split() == [str(SIZE)] and slow.stderr == ""
    closed = python(code, "| true; exit ${PIPESTATUS[0]}", PYTHONUNBUFFERED=unbuffered)
    assert (closed.returncode, closed.stderr) == (1, "caught Broken pipe\n")


def test_text_is_utf_8() -> None:
    done = python("print('\\u2192')", "", PYTHONIOENCODING="latin-1")
    assert done.stdout == "\u2192\n"
