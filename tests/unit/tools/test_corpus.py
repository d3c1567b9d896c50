"""passline-opt --out-dir and passline.corpus.map: many inputs, failures, crashes, resumption."""

from __future__ import annotations

import csv
import os
import signal
import sys
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import ParamSpec, TypeVar

import onnx
import pytest
from support.suites.inprocess import Result, passline_opt
from support.tables import table_test

from passline import corpus
from passline.passes import FoldConstant
from passline.passmanager import PasslineError, Sequential
from passline.passmanager.registry import installed
from passline.tools.corpus.executors import run_all
from passline.tools.corpus.jobs import Manifest, external_data, job_key, result_names
from passline.tools.corpus.options import files_of
from passline.tools.corpus.outcome import COLUMNS, InputOutcome, summary, table_of

P = ParamSpec("P")
T = TypeVar("T")

MODULE = """\
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = relax.constant dense<2.0> : tensor<4xf32>
  %k = relax.add %c, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = relax.add %x, %k : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
"""

PLUGIN = """
import os
from dataclasses import dataclass
from xdsl.passes import ModulePass
from xdsl.universe import Universe

@dataclass(frozen=True)
class Die(ModulePass):
    name = "die"

    def apply(self, ctx, op):
        if "die" in op.attributes:
            os._exit(7)

UNIVERSE = Universe(all_dialects={}, all_passes={"die": lambda: Die})
"""


@pytest.fixture
def inputs(tmp_path: Path) -> list[str]:
    """Four inputs in two directories."""
    (tmp_path / "in" / "sub").mkdir(parents=True)
    paths = [tmp_path / "in" / name for name in ("a.mlir", "b.mlir", "c.mlir", "sub/a.mlir")]
    for path in paths:
        path.write_text(f"// {path}\n{MODULE}")
    return [str(path) for path in paths]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


def run(out: Path, *args: str) -> Result:
    return passline_opt("--out-dir", str(out), "-j", "2", "-p", "fold-constant", *args)


def by_name(outcomes: list[InputOutcome]) -> dict[str, InputOutcome]:
    return {Path(outcome.path).name: outcome for outcome in outcomes}


# The command


def test_results_are_those_of_single_runs_and_are_not_done_again(
    inputs: list[str], out: Path
) -> None:
    first = run(out, *inputs)
    assert first.status == 0 and first.stdout.rstrip().endswith("4 done"), first
    single = passline_opt("-p", "fold-constant", inputs[3]).stdout
    assert (out / "sub" / "a.mlir").read_text() == single and "dense<4.0" in single
    assert not [*out.rglob("*.log")]
    Path(inputs[0]).write_text(f"// changed\n{MODULE}")
    (out / "b.mlir").write_text("changed")
    again = run(out, *inputs)
    assert again.stdout.rstrip().endswith("2 done, 2 done before"), again
    assert (out / "b.mlir").read_text() == single
    forced = run(out, "--force", *inputs)
    assert forced.stdout.rstrip().endswith("4 done"), forced


def test_a_failure_is_one_line_and_stops_no_other(inputs: list[str], out: Path) -> None:
    Path(inputs[1]).write_text("func.func @f( {")
    result = run(out, *inputs, f"{inputs[0]}.none", "--table", str(out.parent / "t.csv"))
    assert result.status == 1 and "3 done, 2 failed" in result.stdout
    assert f"{inputs[1]}:1:" in result.stderr
    assert f"error: '{inputs[0]}.none' failed: No such file or directory" in result.stderr
    assert len(result.stderr.splitlines()) == 2
    assert "error:" in (out / "b.mlir.log").read_text() and not (out / "b.mlir").exists()
    with (out.parent / "t.csv").open() as file:
        rows = {row["path"]: row for row in csv.DictReader(file)}
    assert tuple(rows[inputs[0]]) == COLUMNS
    assert rows[inputs[0]]["operations_before"] == "6" and rows[inputs[0]]["kernels"] == "0"
    assert rows[inputs[0]]["operations_after"] == "5"
    assert rows[inputs[1]]["status"] == "failed" and rows[inputs[1]]["operations_before"] == ""


def test_a_crash_is_the_failure_of_one_input(
    inputs: list[str], out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = out.parent / "plugin"
    (plugin / "deadly-1.dist-info").mkdir(parents=True)
    (plugin / "deadly.py").write_text(PLUGIN)
    info = plugin / "deadly-1.dist-info"
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: deadly\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[xdsl.universe]\ndeadly = deadly:UNIVERSE\n")
    monkeypatch.setattr(sys, "path", [str(plugin), *sys.path])
    installed.cache_clear()
    try:
        Path(inputs[1]).write_text("builtin.module attributes {die} {}")
        args = ("--out-dir", str(out), "-j", "2", "-p", "die", *inputs)
        result = passline_opt(*args)
        assert result.status == 3 and "3 done, 1 crashed" in result.stdout, result
        assert result.stderr == (
            f"error: '{inputs[1]}' crashed: the process ended while this input ran\n"
        )
        again = passline_opt(*args)
        assert again.status == 3 and "0 done, 3 done before, 1 crashed" in again.stdout
    finally:
        installed.cache_clear()


@table_test(
    ("args", "message"),
    [
        (["-j", "2", "x.mlir"], "--jobs needs --out-dir"),
        (["--out-dir", "o"], "--out-dir needs input files"),
        (["--out-dir", "o", "-"], "--out-dir takes files, not stdin"),
        (["--out-dir", "o", "-j0", "x.mlir"], "--jobs: expected at least one process"),
        (["--out-dir", "o", "x.mlir", "-o", "y"], "--output-file names one file"),
        (["--out-dir", "o", "x.mlir", "--table=t.txt"], "expected a file named *.csv or *.parquet"),
        (["--out-dir", "o", "x.mlir", "--executor=ray"], "expected processes or dask:ADDRESS"),
        (["--out-dir", "o", "x.mlir", "--nonsense"], "unrecognized arguments: --nonsense"),
        (["--out-dir", "o", "x.mlir", "-p", "nonsense"], "nonsense"),
    ],
)
def test_wrong_usage(args: list[str], message: str) -> None:
    result = passline_opt(*args)
    assert result.status == 2 and message in result.stderr, result
    assert not Path("o").exists()


def test_inputs_stand_anywhere_among_the_options(inputs: list[str], out: Path) -> None:
    args = [inputs[0], "-p", "cse", inputs[1], "--out-dir", str(out), "-O2", inputs[2], "-j1"]
    result = passline_opt(*args)
    assert result.status == 0 and "3 done" in result.stdout, result


def test_a_directory_stands_for_the_files_below_it(inputs: list[str], out: Path) -> None:
    folder = Path(inputs[0]).parent
    (folder / "deep").mkdir()
    (folder / "deep" / "x.mlir").write_text(Path(inputs[0]).read_text())
    (folder / "notes.txt").write_text("not IR")
    files = files_of(str(folder), ("mlir", "onnx"))
    assert str(folder / "deep" / "x.mlir") in files
    assert all(name.endswith((".mlir", ".onnx")) for name in files)
    assert run(out, str(folder / "deep")).status == 0
    assert (out / "x.mlir").exists()
    (folder / "empty").mkdir()
    result = run(out, str(folder / "empty"))
    assert result.status == 2
    assert "empty' holds no file named *.mlir or *.onnx" in result.stderr


def test_a_result_does_not_replace_an_input(inputs: list[str]) -> None:
    result = run(Path(inputs[0]).parent, inputs[0])
    assert result.status == 1 and "would replace the input" in result.stderr


# In Python


def test_map_on_threads(inputs: list[str], out: Path) -> None:
    with ThreadPoolExecutor(2) as executor:
        outcomes = by_name([*corpus.map("fold-constant", inputs[:3], executor, out_dir=out)])
    assert {outcome.status for outcome in outcomes.values()} == {"ok"} and len(outcomes) == 3
    a = outcomes["a.mlir"]
    assert (a.operations_before, a.operations_after, a.kernels) == (6, 5, 0)
    assert a.output == "a.mlir" and a.seconds > 0 and not a.resumed


def test_map_takes_a_pipeline_and_needs_no_directory(inputs: list[str]) -> None:
    with ThreadPoolExecutor(1) as executor:
        (outcome,) = corpus.map(Sequential([FoldConstant()]), inputs[:1], executor)
    assert outcome.status == "ok" and outcome.output is None and outcome.operations_after == 5


def test_map_of_nothing_and_of_a_wrong_pipeline() -> None:
    assert [*corpus.map("cse", [])] == []
    with pytest.raises(PasslineError, match="nonsense"):
        corpus.map("nonsense", [])


class Broken(ThreadPoolExecutor):
    """An executor of one thread that does one job and breaks at the second."""

    def __init__(self) -> None:
        super().__init__(1)
        self.begun = 0

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        def work() -> T:
            self.begun += 1
            if self.begun > 1:
                raise BrokenExecutor("broken")
            return fn(*args, **kwargs)

        return super().submit(work)


def test_a_broken_executor_loses_nothing_that_is_done(inputs: list[str], out: Path) -> None:
    statuses = [o.status for o in corpus.map("cse", inputs, Broken(), out_dir=out)]
    assert sorted(statuses) == ["crashed", "crashed", "crashed", "ok"]
    with ThreadPoolExecutor(1) as executor:
        again = [*corpus.map("cse", inputs, executor, out_dir=out)]
    assert [outcome.resumed for outcome in again] == [True, False, False, False]
    assert {outcome.status for outcome in again} == {"ok"}


# Dask


def test_dask_loses_nothing_when_a_worker_is_killed(out: Path) -> None:
    distributed = pytest.importorskip("distributed")
    paths = [out.parent / f"m{i:02}.mlir" for i in range(40)]
    for path in paths:
        path.write_text(f"// {path}\n{MODULE}")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        pids = [*client.run(os.getpid).values()]
        outcomes: list[InputOutcome] = []
        with client.get_executor(pure=False) as executor:
            for outcome in corpus.map("fold-constant", paths, executor, out_dir=out):
                outcomes.append(outcome)
                if len(outcomes) == 5:
                    os.kill(pids[0], signal.SIGKILL)
        assert len(set(pids)) == 2 and {outcome.status for outcome in outcomes} == {"ok"}
        assert sorted(outcome.path for outcome in outcomes) == sorted(map(str, paths))
        assert len((out / "manifest.jsonl").read_text().splitlines()) == len(paths)
        again = run(
            out, f"--executor=dask:{cluster.scheduler_address}", "--force", *map(str, paths)
        )
        assert again.status == 0 and "40 done" in again.stdout, again
    assert {path.name for path in out.glob("*.mlir")} == {path.name for path in paths}


# The parts


class Fragile(ThreadPoolExecutor):
    """An executor that breaks with all that it has when it gets the job 3, as a pool of processes
    does."""

    dead = False

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        def work() -> T:
            self.dead |= args == (3,)
            if self.dead:
                raise BrokenProcessPool("dead")
            return fn(*args, **kwargs)

        return super().submit(work)


def test_the_job_that_kills_its_worker_is_blamed_and_all_others_are_done_once() -> None:
    done: list[int] = []

    def double(job: int) -> int:
        done.append(job)
        return 2 * job

    results = dict(run_all(Fragile, double, range(10), 2))
    assert isinstance(results.pop(3), BrokenProcessPool)
    assert results == {job: 2 * job for job in range(10) if job != 3}
    assert sorted(done) == [job for job in range(10) if job != 3]


def test_the_manifest_ignores_a_line_that_was_cut_off(tmp_path: Path) -> None:
    outcome = InputOutcome("x", "ok", key="k")
    Manifest(tmp_path).add(outcome)
    with (tmp_path / "manifest.jsonl").open("a") as file:
        file.write('{"path": "y", "sta')
    Manifest(tmp_path).add(InputOutcome("z", "ok", key="l"))
    read = Manifest(tmp_path)
    found = read.find("k", "x.mlir")
    assert found is not None and found.path == "x" and found.resumed
    assert read.find("l", "z.mlir") is not None and read.find("m", "x.mlir") is None


@pytest.mark.parametrize("name", ["w.bin", "d" * 127, "d" * 128, "d" * 200])
def test_the_key_depends_on_the_data_beside_a_model(tmp_path: Path, name: str) -> None:
    tensor = onnx.TensorProto(name="w", data_location=onnx.TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value=name)
    tensor.external_data.add(key="offset", value="0")
    graph = onnx.GraphProto(name="g", initializer=[tensor])
    model = tmp_path / "m.onnx"
    model.write_bytes(onnx.ModelProto(graph=graph).SerializeToString())
    assert external_data(model.read_bytes()) == [name]
    (tmp_path / name).write_bytes(b"1")
    before = job_key(model, [], "1")
    assert before == job_key(model, [], "1") != job_key(model, ["-O2"], "1")
    (tmp_path / name).write_bytes(b"2")
    assert job_key(model, [], "1") != before


def test_relative_paths_are_those_of_this_directory(
    inputs: list[str], out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(inputs[0]).parent)
    Path("-a.mlir").write_text(MODULE)
    result = run(Path("../out"), "b.mlir", "sub/a.mlir", "--", "-a.mlir")
    assert result.status == 0 and "3 done" in result.stdout, result
    monkeypatch.chdir(out.parent)
    again = run(out, "in/b.mlir", "in/sub/a.mlir", "in/-a.mlir")
    assert "0 done, 3 done before" in again.stdout and "in/b.mlir" in again.stdout, again
    assert (out / "sub" / "a.mlir").exists() and (out / "-a.mlir").exists()


def test_names_of_results() -> None:
    names = result_names(["/d/a.mlir", "/d/e/a.mlir", "/d/m.onnx", "/d/../d/a.mlir"])
    assert {*names.values()} == {"a.mlir", "e/a.mlir", "m.onnx.mlir"}
    with pytest.raises(PasslineError, match="would both be 'm.onnx.mlir'"):
        result_names(["/d/m.onnx", "/d/m.onnx.mlir"])


def test_a_long_table_shows_the_failures() -> None:
    outcomes = [InputOutcome(f"{i}", "failed" if i == 7 else "ok") for i in range(60)]
    assert table_of(outcomes).row_count == 1 and table_of(outcomes[:50]).row_count == 50
    assert summary(outcomes) == "59 done, 1 failed"
