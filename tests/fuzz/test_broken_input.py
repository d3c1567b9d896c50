"""A selection of broken inputs, always the same ones, and the mutations themselves."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from support.suites.inprocess import Result

from fuzz.broken_input import Campaign, Failure, check_input, failure_of_output
from fuzz.broken_kinds import KINDS, MODULE, BrokenInput, broken_input
from fuzz.mutation import mutate_bytes, mutate_text

pytestmark = pytest.mark.filterwarnings("ignore")  # of numpy, xDSL and onnx, for wrong values

SEEDS = 25
# The others need seconds to load what they are made of.
TESTED = [kind for kind in KINDS if kind not in ("xdsl ir", "onnx bytes", "onnx fields")]


@pytest.mark.parametrize("kind", TESTED)
def test_broken_inputs_end_with_a_message(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    statuses = Counter[int]()
    for seed in range(SEEDS):
        outcome = check_input(broken_input(seed, [kind]), tmp_path, seconds=120)
        assert not isinstance(outcome, Failure), f"seed {seed} of {kind}: {outcome}"
        statuses[outcome] += 1
    assert statuses[1] + statuses[2] > SEEDS / 4, "most inputs are broken"


def test_seed_determines_an_input() -> None:
    for seed in range(50):
        assert broken_input(seed, ["ir", "config"]) == broken_input(seed, ["ir", "config"])


def test_mutations_change_the_input() -> None:
    text, data = MODULE.decode(), bytes(range(200))
    changed = [mutate_text(text, Random(seed), [text]) != text for seed in range(100)]
    assert sum(changed) > 80
    assert sum(mutate_bytes(data, Random(seed)) != data for seed in range(100)) > 80
    assert mutate_text("", Random(1), [text]) == "" and mutate_bytes(b"", Random(1)) == b""


@pytest.mark.parametrize(
    ("result", "cause"),
    [
        (Result(1, "", "Traceback (most recent call last):\n"), "prints a traceback"),
        (Result(1, "", " \n"), "fails without a message"),
        (Result(1, "", "error: \x1b[31m"), "prints an escape sequence of the input"),
        (Result(1, "", "error: MemoryError"), "runs out of memory"),
        (Result(0, "", "warning: x"), None),
        (Result(2, "", "error: x"), None),
    ],
)
def test_outputs_that_are_failures(result: Result, cause: str | None) -> None:
    failure = failure_of_output(result)
    assert (failure.cause if failure else None) == cause


def test_errors_of_the_tool_are_failures(tmp_path: Path) -> None:
    hangs = "func.func @main() {\n  cf.br ^bb1\n^bb1:\n  cf.br ^bb1\n}\n"
    item = BrokenInput("run", "passline-run", ("{}",), hangs.encode())
    assert str(check_input(item, tmp_path, seconds=1)).startswith("Failure(cause='hangs in ")
    bug = BrokenInput("ir", "passline-opt", ("{}", "-p", "fuzz-bug"), MODULE)
    assert "status 3: ZeroDivisionError" in str(check_input(bug, tmp_path)), "registered below"


def test_a_campaign_counts_outcomes(capsys: pytest.CaptureFixture[str]) -> None:
    campaign = Campaign(["config"], None)
    for seed in range(3):
        campaign.count(seed, "config", Failure("hangs in f"))
    campaign.count(3, "config", 2)
    assert [*campaign.summary()] == [
        "4 inputs",
        "config: status 0 0, 1 0, 2 1; failed 3",
        "3 x config: hangs in f",
    ]
    assert len(re.findall("hangs in f", capsys.readouterr().out)) == 1, "told once"


@pytest.fixture(autouse=True, scope="module")
def _bug() -> None:  # pyright: ignore[reportUnusedFunction]
    """Register a pass with a bug."""
    from xdsl.dialects.builtin import ModuleOp

    from passline.passmanager import PassContext, module_pass, register_pass

    @module_pass(name="fuzz-bug")
    def bug(module: ModuleOp, ctx: PassContext) -> None:
        raise ZeroDivisionError

    register_pass(type(bug))
