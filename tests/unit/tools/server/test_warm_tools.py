"""Runs in forks for a test suite: what the caller has is that of the run, and nothing stays."""

from __future__ import annotations

import os
import pickle
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support.servers import IS_WARM, Tool
from support.tables import table_test

from passline.tools.server.warm_tools import WarmProcess, WarmTools

PIPE = subprocess.PIPE
Start = Callable[..., WarmProcess]


@pytest.fixture
def start(tools: WarmTools, environment: dict[str, str]) -> Start:
    """Return a function that starts a script in a fork."""

    def start(*arguments: str, **options: Any) -> WarmProcess:
        given: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": PIPE, "stderr": PIPE}
        process = tools.start(arguments, env=environment, **{**given, **options})
        assert process is not None
        return process

    return start


def output(process: WarmProcess) -> str:
    """Return what a run prints, which must succeed."""
    printed, errors = process.communicate()
    assert process.returncode == 0, errors
    return (printed or "").strip()


# The run is that of a new process


@table_test(
    "code",
    [
        "print('result')",
        "import sys; print(sys.argv[1:], file=sys.stderr); sys.exit(3)",
        "import sys; sys.exit('a message')",
        "import sys; sys.exit(300)",
        "print(__name__, __file__, __builtins__ is not None)",
        "def f(): raise ValueError('x')\nf()",
        "raise KeyboardInterrupt",
        "import sys, os; print(sys.path, sys.argv, sys.orig_argv, os.getcwd())",
        "import sys; print(sys.stdin.read(), end='')",
        "import sys; print(sys.stdout, sys.stderr, sys.stdout.encoding, sys.stderr.line_buffering)",
        "import atexit; atexit.register(print, 'end')",
        "import threading; threading.Thread(target=print, args=['thread']).start()",
        "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
        "import os, sys; os.execv(sys.executable, [sys.executable, '-c', 'raise SystemExit(7)'])",
        "import signal; print(*(signal.getsignal(n) for n in (2, 13, 15, 17)))",
        "import os; os.write(1, bytes([200, 10]))",
        "import os; print(sorted(os.environ))",
        "import os; print(os.umask(0), os.nice(0), len(os.sched_getaffinity(0)))",
        "import multiprocessing as m\nif __name__ == '__main__':\n"
        "    with m.get_context('fork').Pool(1) as pool: print(pool.map(abs, [-1]))",
    ],
)
def test_a_fork_does_what_a_process_does(
    code: str, tools: WarmTools, tool: Tool, environment: dict[str, str]
) -> None:
    command = [tool(code), "-a", "ü b"]

    def run(start: Callable[..., Any]) -> tuple[object, ...]:
        with open(command[0]) as file:
            process = start(command, stdin=file, stdout=PIPE, stderr=PIPE, env=environment)
            printed, errors = process.communicate()
        return process.returncode, printed, errors

    assert run(tools.start) == run(partial(subprocess.Popen, text=True, errors="replace"))


def test_a_module_runs(environment: dict[str, str], start: Start, tmp_path: Path) -> None:
    package = tmp_path / "packages/toy"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text("import sys; print(__package__, sys.argv[1:])")
    process = start(sys.executable, "-m", "toy", "x", cwd=str(tmp_path))
    assert output(process) == "toy ['x']"


def test_the_directory_and_the_umask_are_the_callers(
    start: Start, tool: Tool, tmp_path: Path
) -> None:
    script = tool("import os; print(os.getcwd()); open('new', 'w')")
    old = os.umask(0o27)
    try:
        assert output(start(script, cwd=str(tmp_path))) == str(tmp_path)
    finally:
        os.umask(old)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640


def test_limits_are_the_callers(start: Start, tool: Tool) -> None:
    script = tool("import resource; print(resource.getrlimit(resource.RLIMIT_CORE)[0])")
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
    try:
        assert output(start(script)) == "0"
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))


def test_signals_that_the_caller_ignores_stay_ignored(start: Start, tool: Tool) -> None:
    script = tool("import signal; print(signal.getsignal(signal.SIGHUP) == signal.SIG_IGN)")
    old = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert output(start(script)) == "True"
    finally:
        signal.signal(signal.SIGHUP, old)


def test_a_closed_pipe(start: Start, tool: Tool) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    process = start(tool("print('lost')"), stdout=writing)
    os.close(writing)
    _, errors = process.communicate()
    assert process.returncode == 120 and "BrokenPipeError" in (errors or "")


def test_errors_go_where_the_output_goes(start: Start, tool: Tool) -> None:
    script = tool("import sys; print('a', file=sys.stderr); print('b')")
    assert output(start(script, stderr=subprocess.STDOUT)).split() == ["a", "b"]


def test_a_pipeline(start: Start, tool: Tool) -> None:
    first = start(tool("print('x' * 100000)", "first"))
    second = start(tool("import sys; print(len(sys.stdin.read()))", "second"), stdin=first.stdout)
    assert output(second) == "100001" and first.wait() == 0


# No state of a run reaches the next


def test_a_run_leaves_nothing_behind(start: Start, tool: Tool, environment: dict[str, str]) -> None:
    code = "import os, json, sys; print(hasattr(json, 'mark'), 'MARK' in os.environ, os.getcwd())"
    change = "json.mark = 1; os.environ['MARK'] = ''; os.chdir('/tmp'); sys.path.clear()"
    script = tool(f"{code}; {change}; sys.stdout.flush()")
    assert output(start(script, cwd="/")) == output(start(script, cwd="/")) == "False False /"


def test_what_runs_import_is_learned(start: Start, tool: Tool, tmp_path: Path) -> None:
    for name in ("toy", "plugin"):
        package = tmp_path / "packages" / name
        package.mkdir()
        (package / "__init__.py").write_text("")
        (package / "part.py").write_text("")
    loaded = "print(*(name in sys.modules for name in ('toy.part', 'plugin.part')))"
    script = tool(
        f"import sys, toy\n{loaded}\nfrom importlib import import_module as load\n"
        "load('toy.part'), load('plugin.part')"
    )
    assert output(start(script)) == "False False"
    said = "False False"
    for _ in range(100):
        if (said := output(start(script))) != "False False":
            break
        time.sleep(0.05)
    assert said == "True False"  # the plugin is none of the tool's own imports


def test_a_tool_rehearses_before_forks(start: Start, tool: Tool, tmp_path: Path) -> None:
    package = tmp_path / "packages" / "toy"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "main.py").write_text(
        "TABLE = []\ndef rehearse_for_forks():\n    TABLE.append('filled')\n    1 / 0\n"
    )
    load = "from importlib import import_module as load"
    script = tool(f"import toy\n{load}\nprint(load('toy.main').TABLE)")
    said = output(start(script))
    assert said == "[]"
    for _ in range(100):
        if (said := output(start(script))) != "[]":
            break
        time.sleep(0.05)
    assert said == "['filled']"  # once, and its failure does not matter


# What is not run in a fork


def test_other_programs_are_not_python_tools(tools: WarmTools, environment: dict[str, str]) -> None:
    assert tools.start(["true"], env=environment) is None
    assert tools.run(["false"], env=environment) == 1


@table_test(
    ["module", "reason"],
    [
        ("print('loaded')", "its imports print something"),
        ("import threading, time\nthreading.Thread(target=time.sleep, args=[9]).start()", "thread"),
        ("import os; os.environ.get('TOY')", "its imports read TOY, which has another value"),
    ],
)
def test_what_a_fork_cannot_do_is_said_once(
    module: str, reason: str, tool: Tool, environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "packages/toy.py").write_text(module)
    script = tool("import toy; print(1)")
    tools = WarmTools(environment)
    said: list[str] = []
    tools.note = said.append
    for _ in range(2):
        assert tools.start([script], env={**environment, "TOY": "1"}) is None
    tools.close()
    assert len(said) == 1 and script in said[0] and reason in said[0]


def test_variables_of_python_are_those_of_the_server(
    tools: WarmTools, tool: Tool, environment: dict[str, str]
) -> None:
    script = tool(IS_WARM)
    assert tools.start([script], env={**environment, "PYTHONHASHSEED": "1"}) is None
    assert tools.run([script], env={**environment, "OTHER": "1"}, stdout=subprocess.DEVNULL) == 0


def test_a_module_beside_a_script_that_hides_another(
    tools: WarmTools, tool: Tool, environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "json.py").write_text("")
    assert tools.start([tool("import argparse, json")], env=environment) is None


# The end of the server


def test_a_copy_uses_the_same_server(
    tools: WarmTools, tool: Tool, environment: dict[str, str]
) -> None:
    copy: WarmTools = pickle.loads(pickle.dumps(tools))
    process = copy.start([tool(IS_WARM)], env=environment, stdout=PIPE)
    assert process is not None and output(process) == "warm"


def test_a_server_that_is_killed(tools: WarmTools, tool: Tool, environment: dict[str, str]) -> None:
    script = tool(
        "import os, sys, time; print(os.getppid(), flush=True); sys.stdin.read(); sys.exit(4)"
    )
    process = tools.start([script], env=environment, stdin=PIPE, stdout=PIPE)
    assert process is not None and process.stdout is not None
    os.kill(int(process.stdout.readline()), signal.SIGKILL)
    process.communicate()
    assert process.returncode == 4  # the run went on
    assert tools.start([script], env=environment) is None
    assert (
        tools.run([script], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        == 4
    )


def test_the_server_ends_with_a_process_that_is_killed(
    tool: Tool, environment: dict[str, str]
) -> None:
    script = tool("import os, time; print(os.getppid(), os.getpid(), flush=True); time.sleep(60)")
    code = (
        "import sys, os; from passline.tools.server.warm_tools import WarmTools; "
        "tools = WarmTools(); tools.start([sys.argv[1]]).wait()"
    )
    command = [sys.executable, "-c", code, script]
    suite = subprocess.Popen(command, stdout=PIPE, env=environment, text=True)
    assert suite.stdout is not None
    processes = [int(text) for text in suite.stdout.readline().split()]
    suite.kill()
    assert suite.stdout.read() == ""  # all that had it open has ended
    suite.wait()
    for _ in range(100):
        if not any(is_running(process) for process in processes):
            break
        time.sleep(0.05)
    assert not any(is_running(process) for process in processes)


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
