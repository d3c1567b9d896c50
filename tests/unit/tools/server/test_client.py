"""The client at the shell: a tool in a fork is, to its caller, the tool."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.servers import CALL, IS_WARM, Tool, shell_server

Environment = dict[str, str]
COLD = {"stdout": "cold\n", "returncode": 0}


def call(script: str, *arguments: str) -> list[str]:
    """Return the command that runs a script in a fork."""
    return [sys.executable, "-I", "-S", str(CALL), script, *arguments]


def run(script: str, environment: Environment, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a script by the client."""
    command = call(script, *arguments)
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def warm_after(script: str, environment: Environment) -> bool:
    """Return whether a script runs in a fork, in the end."""
    for _ in range(200):
        if run(script, environment).stdout == "warm\n":
            return True
        time.sleep(0.05)
    return False


@pytest.fixture(autouse=True)
def default_signals() -> Iterator[None]:
    """Let processes end by signals, also where the tests run by `nohup` or in the background."""
    numbers = signal.SIGINT, signal.SIGHUP, signal.SIGTERM
    before = [signal.getsignal(number) for number in numbers]
    for number, handler in zip(numbers, before, strict=True):
        if handler == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


@pytest.fixture
def server(environment: Environment) -> Iterator[subprocess.Popen[str]]:
    """Yield a server that listens."""
    with shell_server(environment) as server:
        yield server


def socket_of(environment: Environment) -> list[Path]:
    return list(Path(environment["XDG_RUNTIME_DIR"]).rglob("*.sock"))


def test_the_first_run_starts_a_server(environment: Environment, tool: Tool) -> None:
    script = tool(IS_WARM)
    assert run(script, environment).stdout == "cold\n"
    assert warm_after(script, environment)
    (socket,) = socket_of(environment)
    assert socket.stat().st_mode & 0o77 == 0 and socket.parent.stat().st_mode & 0o777 == 0o700
    stop(environment)


def stop(environment: Environment) -> None:
    """End the server, and wait until it has gone."""
    serve = Path(sys.executable).with_name("passline")
    subprocess.run([serve, "serve", "--stop"], env=environment, check=True, capture_output=True)
    for _ in range(200):
        if not socket_of(environment):
            return
        time.sleep(0.05)
    raise AssertionError("the server has not ended")


@pytest.mark.usefixtures("server")
def test_arguments_streams_and_status(environment: Environment, tool: Tool) -> None:
    script = tool("import sys; print(*sys.argv[1:]); print('e', file=sys.stderr); sys.exit(9)")
    done = run(script, environment, "-x", "a b")
    assert (done.stdout, done.stderr, done.returncode) == ("-x a b\n", "e\n", 9)


@pytest.mark.usefixtures("server")
def test_other_open_files_are_passed_on(environment: Environment, tool: Tool) -> None:
    script = tool("import sys; print(open(sys.argv[1]).read())")
    command = f"{' '.join(call(script))} <(echo inside)"
    done = subprocess.run(["bash", "-c", command], env=environment, capture_output=True, text=True)
    assert done.stdout == "inside\n\n", done.stderr


@pytest.mark.usefixtures("server")
def test_closed_streams_are_closed(environment: Environment, tool: Tool) -> None:
    script = tool("import sys; print(sys.stdin, sys.stderr)")
    command = f"{' '.join(call(script))} <&- 2>&-"
    done = subprocess.run(["sh", "-c", command], env=environment, capture_output=True, text=True)
    assert done.stdout == "None None\n"


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_reach_the_run(
    number: signal.Signals, environment: Environment, tool: Tool
) -> None:
    script = tool("import time; print('begun', flush=True); time.sleep(60)")
    command = call(script)
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == "begun\n"
        process.send_signal(number)
        _, errors = process.communicate()
    assert process.returncode == -number
    assert ("KeyboardInterrupt" in errors) == (number == signal.SIGINT)


@pytest.mark.usefixtures("server")
def test_a_run_handles_a_signal(environment: Environment, tool: Tool) -> None:
    script = tool(
        "import signal, sys, time\n"
        "signal.signal(signal.SIGINT, lambda *_: sys.exit(5))\n"
        "print('begun', flush=True); time.sleep(60)"
    )
    with subprocess.Popen(call(script), env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline()
        process.send_signal(signal.SIGINT)
    assert process.returncode == 5


@pytest.mark.usefixtures("server")
def test_a_client_that_is_killed_ends_the_run(environment: Environment, tool: Tool) -> None:
    script = tool("import os, time; print(os.getpid(), flush=True); time.sleep(60)")
    with subprocess.Popen(call(script), env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.kill()
        assert process.stdout.read() == b""  # the run had it open


@pytest.mark.usefixtures("server")
def test_the_terminal_is_the_callers(environment: Environment, tool: Tool) -> None:
    script = tool("import os; print(os.isatty(1), *os.get_terminal_size(1))")
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, b"\x11\0\x4d\0\0\0\0\0")  # 17 lines of 77
    subprocess.run(call(script), env=environment, stdin=theirs, stdout=theirs, check=True)
    assert os.read(ours, 1000) == b"True 77 17\r\n"
    os.close(ours)
    os.close(theirs)


@pytest.mark.usefixtures("server")
def test_a_lower_limit_is_that_of_the_run(environment: Environment, tool: Tool) -> None:
    script = tool("import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])")
    command = f"ulimit -S -n 77; {' '.join(call(script))}"
    done = subprocess.run(["sh", "-c", command], env=environment, capture_output=True, text=True)
    assert done.stdout == "77\n", done.stderr


def test_an_edited_module_starts_a_new_server(
    environment: Environment, tool: Tool, tmp_path: Path
) -> None:
    module = tmp_path / "packages/toy.py"
    module.write_text("VALUE = 1\n")
    script = tool(f"{IS_WARM}\nimport toy\nprint(toy.VALUE, file=sys.stderr)")
    with shell_server(environment, script) as server:
        assert warm_after(script, environment)
        module.write_text("VALUE = 22\n")
        done = run(script, environment)
        assert (done.stdout, done.stderr) == ("cold\n", "22\n")
        assert server.wait(timeout=60) == 0
    assert warm_after(script, environment)
    assert run(script, environment).stderr == "22\n"
    stop(environment)


def test_a_server_ends_when_it_is_idle(environment: Environment) -> None:
    with shell_server(environment, "--idle=0.1") as server:
        assert server.wait(timeout=60) == 0
    assert not socket_of(environment)


def test_there_is_one_server_for_an_environment(environment: Environment, tool: Tool) -> None:
    with shell_server(environment), pytest.raises(AssertionError), shell_server(environment):
        raise RuntimeError("two servers")
    other = {**environment, "PYTHONHASHSEED": "1"}
    with shell_server(environment), shell_server(other):
        assert len(socket_of(environment)) == 2
        assert run(tool(IS_WARM), other).stdout == "warm\n"


@pytest.mark.usefixtures("server")
def test_a_folder_that_others_can_open_is_refused(environment: Environment, tool: Tool) -> None:
    (Path(environment["XDG_RUNTIME_DIR"]) / "passline").chmod(0o755)
    done = run(tool(IS_WARM), environment)
    assert done.stdout == "cold\n" and done.returncode == 0
    assert done.stderr.count("\n") == 1 and "mode 755" in done.stderr


def test_a_link_as_the_folder_is_refused(environment: Environment, tool: Tool) -> None:
    runtime = Path(environment["XDG_RUNTIME_DIR"])
    (runtime / "elsewhere").mkdir(mode=0o700)
    (runtime / "passline").symlink_to("elsewhere")
    done = run(tool(IS_WARM), environment)
    assert done.stdout == "cold\n" and done.stderr.startswith("warning: the folder of sockets")


def test_a_server_that_was_killed_costs_time_alone(environment: Environment, tool: Tool) -> None:
    script = tool(IS_WARM)
    with shell_server(environment) as server:
        server.kill()
        server.wait()
        assert run(script, environment).stdout == "cold\n"  # its socket is still there
        assert warm_after(script, environment)
    stop(environment)


# The commands of Passline


def test_the_switch(environment: Environment, tmp_path: Path) -> None:
    file = tmp_path / "x.mlir"
    file.write_text("builtin.module {\n}\n")
    script = str(Path(sys.executable).with_name("passline-opt"))
    environment = {**environment, "PASSLINE_SERVER": "1"}
    with shell_server(environment, script):
        for options, status in (([], 0), (["-p", "csee"], 2), (["--no-acceleration"], 0)):
            cold = {**environment, "PASSLINE_SERVER": "0"}
            command = [script, str(file), *options]
            runs = [
                subprocess.run(command, env=env, capture_output=True, text=True)
                for env in (environment, cold)
            ]
            facts = [(done.stdout, done.stderr, done.returncode) for done in runs]
            assert facts[0] == facts[1] and runs[0].returncode == status
    assert not socket_of(environment)


def test_aliases(environment: Environment) -> None:
    serve = Path(sys.executable).with_name("passline")
    command = [serve, "serve", "--aliases"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    shell = f"{done.stdout}\nalias passline-opt"
    listed = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, check=True)
    assert str(CALL) in listed.stdout
