"""The numbers of passes: the same in all instruments."""

from __future__ import annotations

import re
from threading import Barrier, Thread

import pytest
from support.passes.toy import Append, Fail, Nothing, Recorder, module, named
from xdsl.dialects.builtin import ModuleOp

from passline.passmanager import Fixpoint, PassContext, Sequential
from passline.passmanager.instruments import IRPrinter, OptBisect, PassNumbers
from passline.passmanager.instruments.printing import NumberingInstrument
from passline.passmanager.registry import PassInfo

Capture = pytest.CaptureFixture[str]
PIPELINE = Sequential([Append("a"), Sequential([Nothing(), Append("b")]), Append("c")])


def lines(capture: Capture) -> list[str]:
    shown = capture.readouterr()
    assert shown.out == ""
    return shown.err.splitlines()


def test_text(capsys: Capture) -> None:
    with PassContext(instruments=[PassNumbers()]):
        PIPELINE(module())
    assert lines(capsys) == [
        " Running pass 1 toy-append on builtin.module",
        " Running pass 2 toy-nothing on builtin.module",
        " Running pass 3 toy-append on builtin.module",
        " Running pass 4 toy-append on builtin.module",
    ]


@pytest.mark.parametrize(
    ("pipeline", "numbers"),
    [
        (PIPELINE, ["1", "3"]),
        (Fixpoint(Append("a"), max_iterations=3), ["1"]),
        (Sequential([named("user", requires=["need"]), named("need")]), ["1", "3"]),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_numbers_are_those_of_bisection(
    pipeline: Sequential, numbers: list[str], first: bool, capsys: Capture
) -> None:
    both = [OptBisect([1, 3]), PassNumbers()]
    with PassContext(required_pass=["toy-nothing"], instruments=both if first else both[::-1]):
        pipeline(module())
    shown = "\n".join(lines(capsys))
    ran = re.findall(r"^BISECT: running pass \((\d)\) (\S+)", shown, re.MULTILINE)
    assert re.findall(r"^ Running pass (\d) (\S+)", shown, re.MULTILINE) == ran
    assert [number for number, _ in ran] == numbers


def test_pass_that_an_instrument_blocks_takes_a_number(capsys: Capture) -> None:
    blocker = Recorder(blocks=frozenset(["toy-nothing"]))
    with PassContext(instruments=[PassNumbers(), blocker]):
        PIPELINE(module())
    assert [int(line.split()[2]) for line in lines(capsys)] == [1, 3, 4]


class Seen(NumberingInstrument):
    """An instrument that notes the number of each pass as it ends."""

    def __init__(self) -> None:
        super().__init__()
        self.ended: list[tuple[str, int | None]] = []

    def run_after_pass(self, module: ModuleOp, info: PassInfo) -> None:
        self.ended.append((info.name, self.number))

    def pass_failed(self, module: ModuleOp, info: PassInfo, error: BaseException) -> None:
        self.ended.append((info.name, self.number))


def test_number_is_that_of_the_pass_that_is_running() -> None:
    def call_another(m: ModuleOp, ctx: PassContext) -> None:
        Append("x").apply(ctx.ir_context, m)

    caller = named("caller", body=call_another)
    with PassContext(instruments=[seen := Seen()]), pytest.raises(ValueError):
        Sequential([Nothing(), caller, Fail()])(module())
    assert seen.ended == [
        ("toy-nothing", 1),
        ("toy-append", 3),
        ("caller", 2),
        ("toy-fail", 4),
        ("sequential", None),
    ]


def test_required_pass_that_comes_after_one_that_is_blocked_has_no_number() -> None:
    blocker = Recorder(blocks=frozenset(["toy-nothing"]))
    ctx = PassContext(required_pass=["toy-append"], instruments=[seen := Seen(), blocker])
    with ctx:
        Sequential([Nothing(), Append("a")])(module())
    assert seen.ended == [("toy-append", None), ("sequential", None)]


def test_threads_do_not_mix_their_numbers() -> None:
    seen, meet = Seen(), Barrier(2)
    ctx = PassContext(instruments=[seen])

    def wait(module: ModuleOp, ctx: PassContext) -> None:
        meet.wait(5)

    def work() -> None:
        with ctx:
            Sequential([named("meet", body=wait)] * 20)(module())

    threads = [Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(n for _, n in seen.ended if n is not None) == [*range(1, 41)]


# Printing by number


def titles(capture: Capture) -> list[str]:
    return [line[11:].removesuffix(" //----- //") for line in lines(capture) if "IR Dump" in line]


def test_ir_is_printed_before_and_after_numbers(capsys: Capture) -> None:
    with PassContext(instruments=[IRPrinter(before_numbers=[2], after_numbers=range(3, 5))]):
        PIPELINE(module())
    assert titles(capsys) == [
        "IR Dump Before toy-nothing",
        'IR Dump After toy-append: toy-append{tag="b"}',
        'IR Dump After toy-append: toy-append{tag="c"}',
    ]


def test_numbers_and_names_print_once(capsys: Capture) -> None:
    printer = IRPrinter(before=["toy-nothing"], before_numbers=[2], after=True, after_numbers=[1])
    with PassContext(instruments=[printer]):
        PIPELINE(module())
    assert len(titles(capsys)) == 5


def test_numbers_with_only_what_changed(capsys: Capture) -> None:
    with PassContext(instruments=[IRPrinter(after_change=True, after_numbers=[1, 2])]):
        PIPELINE(module())
    assert titles(capsys) == ["IR Dump At Start", 'IR Dump After toy-append: toy-append{tag="a"}']


def test_pass_of_this_number_that_fails_is_printed(capsys: Capture) -> None:
    with PassContext(instruments=[IRPrinter(after_numbers=[2])]), pytest.raises(ValueError):
        Sequential([Nothing(), Fail()])(module())
    assert titles(capsys) == ["IR Dump After toy-fail Failed"]
