"""The search for the fastest choices, with measurements that are made up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from multiprocessing import get_context
from pathlib import Path
from typing import ParamSpec, TypeVar

import pytest
from support.parsing import parsed
from xdsl.dialects.builtin import ModuleOp

from passline.compiler.kernels.choices import Choice
from passline.compiler.kernels.database import Database
from passline.compiler.tune.module_tuning import Tuning, heaviest, tune_module
from passline.compiler.tune.search import Search, Settings, StoppedError, candidates
from passline.compiler.tune.task import Measurement, Task, tunable_kernels
from passline.dialects.target import NAMED
from passline.passmanager.errors import PasslineError

TARGET = NAMED["x86-64-v3"]
TEXT = """
func.func @main(%x: tensor<64x96xf32>, %y: tensor<8x96xf32>) -> tensor<64x48xf32> {
  %w = relax.constant dense<0.5> : tensor<96x48xf32>
  %0 = relax.matmul %x, %w : (tensor<64x96xf32>, tensor<96x48xf32>) -> tensor<64x48xf32>
  %1 = relax.matmul %y, %w : (tensor<8x96xf32>, tensor<96x48xf32>) -> tensor<8x48xf32>
  %2 = relax.exp %0 : (tensor<64x48xf32>) -> tensor<64x48xf32>
  %3 = relax.sum %1 {axis = array<i64: 0>} : (tensor<8x48xf32>) -> tensor<48xf32>
  %4 = relax.add %2, %3 : (tensor<64x48xf32>, tensor<48xf32>) -> tensor<64x48xf32>
  func.return %4 : tensor<64x48xf32>
}
"""


def module(text: str = TEXT) -> ModuleOp:
    return parsed(text)


def tune(
    path: Path,
    measure: Callable[[Task], Measurement],
    *,
    trials: int = 6,
    again: bool = False,
    time_limit: float | None = None,
    executor: Executor | None = None,
) -> Tuning:
    settings = Settings(trials, again=again, time_limit=time_limit)
    return tune_module(module(), path, TARGET, settings, measure=measure, executor=executor)


def time_of(choices: tuple[Choice, ...]) -> float:
    """Return a time that is the lowest for tiles of two rows, and 1 for the estimated choices."""
    return 0.5 if choices and choices[0].form.get("m") == 2 else 1.0 if not choices else 1.2


def simulated(task: Task) -> Measurement:
    ratio = time_of(task.choices)
    return Measurement(ratio, 1.0, (ratio, ratio))


class Counting:
    def __init__(self, function: Callable[[Task], Measurement] = simulated) -> None:
        self.function = function
        self.tasks: list[Task] = []

    def __call__(self, task: Task) -> Measurement:
        self.tasks.append(task)
        return self.function(task)


def test_candidates_are_the_best_of_families_the_best_estimates_and_some_others():
    ranked = [
        (1 + i / 100, Choice("schedule", {}, {"m": i, "inputs": i // 150})) for i in range(200)
    ]
    chosen = candidates(ranked, 8, seed=0)
    numbers = [int(str(choice.form["m"])) for choice in chosen]
    assert numbers[:4] == [1, 150, 2, 3] and len({*numbers}) == 8 and max(numbers[4:]) <= 100
    assert chosen == candidates(ranked, 8, seed=0) != candidates(ranked, 8, seed=1)
    assert len(candidates(ranked[:3], 8, seed=0)) == 2 and candidates([], 8, 0) == []
    assert [len(candidates(ranked, n, 0)) for n in range(5)] == [0, 1, 2, 3, 4]


def test_kernels_that_make_choices_are_found_the_heaviest_first():
    kernels, notes = tunable_kernels(module(), TARGET, "none")
    assert [kernel.operations for kernel in kernels] == [
        "matmul tensor<64x48xf32>",
        "matmul tensor<8x48xf32>",
    ]
    assert notes == [] and kernels[0].cycles > 4 * kernels[1].cycles
    assert [*map(len, (heaviest(kernels, 100), heaviest(kernels, 50)))] == [2, 1]


def test_equal_kernels_of_two_models_are_tuned_once(tmp_path: Path):
    path = tmp_path / "d.jsonl"
    tune(path, simulated)
    other = module(TEXT.replace("%x", "%input").replace("dense<0.5>", "dense<0.25>"))
    counting = Counting()
    tuning = tune_module(other, path, TARGET, measure=counting)
    assert counting.tasks == [] and not any(outcome.is_new for outcome in tuning.outcomes)


def test_kernels_of_unknown_sizes_are_left_out_with_a_note():
    text = TEXT.replace("8x96", "?x96").replace("8x48", "?x48")
    kernels, notes = tunable_kernels(module(text), TARGET, "none")
    assert len(kernels) == 1
    assert any("has unknown sizes: choose them by --shape or --dim" in note for note in notes)


def test_the_fastest_is_kept(tmp_path: Path):
    path = tmp_path / "d.jsonl"
    tuning = tune(path, simulated, trials=400)
    assert [outcome.record is not None for outcome in tuning.outcomes] == [True, True]
    record = tuning.outcomes[0].record
    assert record is not None and record.finished and record.choices[0].form["m"] == 2
    assert (record.seconds, record.estimated_seconds) == (0.5, 1.0)
    assert Database.read(path).find(record.key, TARGET) == record
    assert tuning.seconds < tuning.estimated_seconds


def test_what_is_faster_by_noise_alone_is_not_kept(tmp_path: Path):
    def noisy(task: Task) -> Measurement:
        return Measurement(0.9, 1.0, (0.7, 1.1)) if task.choices else Measurement(1.0, 1.0, (1, 1))

    record = tune(tmp_path / "d.jsonl", noisy).outcomes[0].record
    assert record is not None and record.seconds == record.estimated_seconds == 1.0
    kernels, _ = tunable_kernels(module(), TARGET, "none")
    assert [*record.choices] == [made.choice for made in kernels[0].made()]


def test_a_wrong_result_is_not_kept_and_is_reported(tmp_path: Path):
    def wrong_if_fast(task: Task) -> Measurement:
        result = simulated(task)
        return Measurement(error="wrong result: 3 of 4") if result.ratio < 1 else result

    outcome = tune(tmp_path / "d.jsonl", wrong_if_fast, trials=400).outcomes[0]
    assert outcome.record is not None and outcome.record.seconds == 1.0
    assert {*outcome.failures} == {"wrong result: 3 of 4"}


def test_a_worker_that_fails_does_not_end_the_search(tmp_path: Path):
    def failing(task: Task) -> Measurement:
        if task.choices and task.choices[0].form["m"] != 2:
            raise ValueError("no")
        return simulated(task)

    outcome = tune(tmp_path / "d.jsonl", failing, trials=400).outcomes[0]
    assert outcome.record is not None and outcome.record.choices[0].form["m"] == 2
    assert {*outcome.failures} == {"ValueError: no"}


def test_a_kernel_that_cannot_be_measured_is_not_recorded(tmp_path: Path):
    counting = Counting(lambda task: Measurement(error="no compiler"))
    tuning = tune(tmp_path / "d.jsonl", counting)
    assert [outcome.record for outcome in tuning.outcomes] == [None, None]
    assert [outcome.failures for outcome in tuning.outcomes] == [["no compiler"]] * 2
    assert len(counting.tasks) == 2 and not (tmp_path / "d.jsonl").exists()


def test_what_is_known_is_not_measured_again_unless_asked_for(tmp_path: Path):
    path = tmp_path / "d.jsonl"
    tune(path, first := Counting())
    tuning = tune(path, second := Counting())
    assert second.tasks == [] and not any(outcome.is_new for outcome in tuning.outcomes)
    tune(path, third := Counting(), again=True)
    assert len(third.tasks) == len(first.tasks) > 0
    assert len(path.read_text().splitlines()) == 4 and len(Database.read(path)) == 2


def test_an_interrupted_search_keeps_what_was_measured(tmp_path: Path):
    path = tmp_path / "d.jsonl"

    def interrupted(task: Task) -> Measurement:
        if len(counting.tasks) == 5:
            raise KeyboardInterrupt
        ratio = 0.6 if task.choices else 1.0
        return Measurement(ratio, 1.0, (ratio, ratio))

    counting = Counting(interrupted)
    with pytest.raises(KeyboardInterrupt):
        tune(path, counting, trials=8)
    (line,) = path.read_text().splitlines()
    assert '"seconds": 0.6' in line and '"finished": false' in line
    tuning = tune(path, Counting(), trials=8)
    assert [outcome.is_new for outcome in tuning.outcomes] == [True, True]


def test_a_search_that_ends_among_the_finalists_keeps_what_was_measured():
    def run(tasks: Sequence[Task]) -> Iterator[tuple[Task, Measurement]]:
        for task in tasks:
            if task.seconds > settings.seconds:
                raise StoppedError("there is no time left")
            yield task, simulated(task)

    kernels, _ = tunable_kernels(module(), TARGET, "none")
    settings = Settings(400)
    search = Search(kernels[0], settings, run)
    with pytest.raises(StoppedError):
        search.search()
    assert search.best is not None and search.best.ratio == 0.5
    assert search.choices[0].form["m"] == 2 and not search.finished


def test_the_time_limit_ends_the_search(tmp_path: Path):
    tuning = tune(tmp_path / "d.jsonl", simulated, time_limit=1e-9)
    assert tuning.outcomes == [] and tuning.left == 2


P = ParamSpec("P")
T = TypeVar("T")


class Broken(ThreadPoolExecutor):
    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        raise BrokenExecutor("gone")


def test_a_broken_executor_ends_the_search(tmp_path: Path):
    with pytest.raises(BrokenExecutor, match="gone"), Broken(1) as executor:
        tune(tmp_path / "d.jsonl", simulated, executor=executor)


def test_any_executor_measures(tmp_path: Path):
    context = get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as executor:
        tuning = tune(tmp_path / "d.jsonl", simulated, trials=2, executor=executor)
    assert [outcome.failures for outcome in tuning.outcomes] == [[], []]
    assert all(outcome.record and outcome.record.finished for outcome in tuning.outcomes)


def test_a_database_that_cannot_be_written_is_an_error_before_anything_is_measured(tmp_path: Path):
    counting = Counting()
    with pytest.raises(PasslineError, match="is a directory"):
        tune(tmp_path, counting)
    with pytest.raises(PasslineError, match="there is no directory '.*missing' for the database"):
        tune(tmp_path / "missing" / "d.jsonl", counting)
    assert counting.tasks == []
