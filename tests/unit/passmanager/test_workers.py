"""Passes that workers run on functions: the same results, whatever the number of workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from io import StringIO
from random import Random
from typing import Any, cast

import pytest
from support.passes.toy import Nothing, named, register_in_test, toy_context
from support.releases import needs_part
from support.tables import table_test
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import Rewriter

from passline.passmanager import (
    ConfigError,
    DiagnosticError,
    Fixpoint,
    FunctionPass,
    Pass,
    PassContext,
    PassInfo,
    PassInstrument,
    PatternPass,
    Sequential,
    forks,
    parallel_run,
    workers,
)
from passline.passmanager.forks import Send
from passline.passmanager.instruments import PassTimingInstrument, StatisticsInstrument
from passline.passmanager.ir import verifier
from passline.passmanager.ir.text.printer import ExactPrinter, PrintStyle
from passline.passmanager.ir.walk import walk
from passline.passmanager.parallel_run import ParallelRun
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.run import Run
from passline.passmanager.workers import reason_for_one_core

pytestmark = [
    needs_part("copying"),
    pytest.mark.skipif(sys.platform != "linux", reason="workers are forks"),
]


def yes(*_: object) -> bool:
    return True


@pytest.fixture
def attempts(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Let two workers run all passes that they can; return the results of the attempts."""
    found: list[bool] = []
    succeeds = ParallelRun.succeeds

    def counted(self: ParallelRun) -> bool:
        found.append(succeeds(self))
        return found[-1]

    monkeypatch.setattr(ParallelRun, "succeeds", counted)
    monkeypatch.setattr(ParallelRun, "_is_worth_it", yes)
    monkeypatch.setattr(workers, "available_cores", lambda: 2)
    monkeypatch.setattr(workers, "can_fork", lambda: True)
    monkeypatch.setattr(workers, "MIN_OPS", 0)
    monkeypatch.setattr(parallel_run, "MIN_OPS", 0)
    return found


def functions(count: int = 5, ops: int = 6, *, seed: int = 0) -> ModuleOp:
    """Return a module with functions of constants and sums, some of them declarations."""
    random = Random(seed)
    lines: list[str] = []
    for number in range(count):
        lines.append(f"func.func @f{number}(%x: i32) -> i32 {{")
        values = ["%x"]
        for index in range(random.randrange(ops + 1)):
            if random.random() < 0.4:
                lines.append(f"  %c{index} = arith.constant {random.randrange(3)} : i32")
                values.append(f"%c{index}")
            else:
                a, b = random.choice(values), random.choice(values)
                op = random.choice(("addi", "muli", "subi"))
                lines.append(f"  %v{index} = arith.{op} {a}, {b} : i32")
                values.append(f"%v{index}")
        lines.append(f"  func.return {random.choice(values)} : i32\n}}")
    lines.append("func.func private @declared(i32) -> i32")
    return Parser(context(), "\n".join(lines), "toy.mlir").parse_module()


def context() -> Context:
    """Return a context for toy IR with arithmetic."""
    made = toy_context()
    made.load_dialect(arith.Arith)
    return made


def text(module: ModuleOp) -> str:
    """Return a module with all locations and names."""
    printer = ExactPrinter(stream := StringIO(), PrintStyle(generic=True, debuginfo=True))
    printer.print_op(module)
    names = [[r.name_hint for r in op.results] for op in walk(module)]
    uses = [
        [(u.operation.name, u.index) for u in r.uses] for op in walk(module) for r in op.results
    ]
    return f"{stream.getvalue()}\n{names}\n{uses}"


def result(
    pipeline: Pass,
    module: ModuleOp,
    number: int,
    instruments: Sequence[PassInstrument] = (),
) -> list[object]:
    """Return all that a pipeline says and makes with a number of workers."""
    shown: list[str] = []
    facts: list[object] = []

    def last(module: ModuleOp, ctx: PassContext) -> None:
        run = Run.current()
        facts.extend((run.counts, run.version, sorted(run.valid)))
        changed = {op: version for op, version in run.changed_in.items() if op is not module}
        facts.append([changed.get(op) for op in module.ops])

    whole = Sequential([pipeline, named("toy-last", body=last)])
    copy = module.clone()
    with PassContext(
        workers=number,
        instruments=instruments,
        remark_filter="toy",
        renderer=lambda found: shown.extend(map(str, found)),
    ):
        try:
            whole.apply(context(), copy)
        except Exception as error:
            notes: list[str] = getattr(error, "__notes__", [])
            facts.append((type(error), str(error), notes))
            return [shown, *facts]
    return [text(copy), shown, *facts]


def same(pipeline: Pass, module: ModuleOp | None = None) -> None:
    """Compare one worker with two."""
    module = module or functions()
    assert result(pipeline, module, 2) == result(pipeline, module, 1)


class Double(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.AddiOp, rewriter: PatternRewriter) -> None:
        if op.lhs is op.rhs:
            two = arith.ConstantOp(IntegerAttr(2, 32))
            product = arith.MuliOp(op.lhs, two.result)
            two.result.name_hint = "two"
            rewriter.replace(op, [two, product], [product.result])


class Doubling(PatternPass):
    """Multiply by two in the place of a sum of equal values."""

    name = "toy-doubling"

    def patterns(self) -> Sequence[RewritePattern]:
        return [Double()]


class Remarking(FunctionPass):
    """UnitReport every constant, and count the ops."""

    name = "toy-remarking"
    preserves = ("toy-doubling",)

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        for op in walk(func):
            ctx.count(op.name)
            if isinstance(op, arith.ConstantOp):
                ctx.diagnostics.warning(op, "is a constant").note(func, "in this function")
                ctx.actions.passed(op, "Seen", "seen", Value=str(op.value))


class Renewing(FunctionPass):
    """Return another function in the place of each second one."""

    name = "toy-renewing"

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> FuncOp | None:
        if func.sym_name.data[-1] in "024":
            new = func.clone()
            new.attributes["new"] = StringAttr("yes")
            return new
        return None


def doing(
    name_: str, body: Callable[[FuncOp, ModuleOp, PassContext], object], is_parallel: bool = True
) -> FunctionPass:
    """Return a function pass with a body."""

    class Doing(FunctionPass):
        name = name_
        parallel = is_parallel

        def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
            body(func, module, ctx)

    return Doing()


@table_test(
    "pipeline",
    [
        Doubling(),
        Sequential([Doubling(), Remarking()]),
        Sequential([Remarking(), Renewing(), Doubling(), Remarking()]),
        Sequential([Doubling(), Nothing(), Renewing()]),
        Fixpoint([Doubling(), Remarking()]),
    ],
)
def test_two_workers_do_what_one_does(attempts: list[bool], pipeline: Pass):
    same(pipeline)
    assert attempts and all(attempts)


def test_random_modules_and_pipelines(attempts: list[bool]):
    passes = [
        Doubling(),
        Remarking(),
        Renewing(),
        *parse_pipeline("func.func(canonicalize)").passes,
    ]
    for seed in range(12):
        random = Random(seed)
        pipeline = Sequential(random.choices(passes, k=random.randrange(1, 5)))
        same(pipeline, functions(random.randrange(2, 7), 12, seed=seed))
    assert len(attempts) == 12 and all(attempts)


def test_runs_end_at_module_passes_and_begin_again(attempts: list[bool]):
    same(Sequential([Doubling(), Nothing(), Remarking(), Renewing()]))
    assert attempts == [True, True]


def test_a_pass_that_is_skipped_does_not_end_a_run(attempts: list[bool]):
    class Late(FunctionPass):
        opt_level = 4

        def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
            func.attributes["late"] = StringAttr("yes")

    same(Sequential([Doubling(), Late(), Remarking()]))
    assert attempts == [True]


def test_requirements_end_a_run(attempts: list[bool], monkeypatch: pytest.MonkeyPatch):
    class Needing(FunctionPass):
        name = "toy-needing"
        required = ("toy-nothing",)

        def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
            func.attributes["needing"] = StringAttr("yes")

    register_in_test(monkeypatch, Nothing)
    # The first is invalid after the second has changed the module, and valid again before the last.
    same(Sequential([Needing(), Doubling(), Needing()]))
    assert attempts == [True, True]


def test_what_a_pass_preserves_stays_valid(attempts: list[bool], monkeypatch: pytest.MonkeyPatch):
    class Keeping(FunctionPass):
        name = "toy-keeping"
        required = ("toy-nothing",)
        preserves = ("toy-nothing",)

        def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
            func.attributes["keeping"] = StringAttr("yes")

    register_in_test(monkeypatch, Nothing)
    same(Sequential([Keeping(), Keeping(), Keeping()]))
    assert attempts == [True]


def fails(func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
    if func.sym_name.data == "f3":
        raise ValueError("boom")


def reports(func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
    if func.sym_name.data in ("f1", "f3"):
        ctx.diagnostics.error(func, "is wrong")


def breaks(func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
    if (last := func.body.block.last_op) is not None:
        last.detach()
        last.erase()


def prints(func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
    print(func.sym_name.data)


def deletes(func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
    if func.sym_name.data == "f2":
        func.detach()


def touches_others(func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
    for op in module.ops:
        op.attributes["seen"] = StringAttr("yes")


def changes_module(func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
    module.attributes["seen"] = StringAttr("yes")


def changes_type(func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
    func.properties["sym_visibility"] = StringAttr("public")


def runs_others(func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
    Doubling().apply(ctx.ir_context, module)


class Length:
    def __init__(self, op: Operation) -> None:
        self.ops = sum(1 for _ in walk(op))


def asks_about_module(func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
    ctx.count("ops", ctx.analyses.get(Length, module).ops)


def asks_about_function(func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
    ctx.count("ops", ctx.analyses.get(Length, func).ops)


@table_test(
    "body",
    [
        fails,
        reports,
        breaks,
        prints,
        deletes,
        touches_others,
        changes_module,
        runs_others,
        changes_type,
    ],
)
def test_what_workers_cannot_do_runs_here(
    attempts: list[bool], capsys: pytest.CaptureFixture[str], body: Callable[..., object]
):
    pipeline = Sequential([Doubling(), doing("toy-doing", body)])
    module = functions()
    expected = result(pipeline, module, 1)
    printed = capsys.readouterr()
    found = result(pipeline, module, 2)
    shown = [line for line in _shown(found) if "on one core" not in line]
    assert _with_shown(found, shown) == expected
    assert capsys.readouterr() == printed
    assert False in attempts
    attempts.clear()


def _shown(found: list[object]) -> list[str]:
    lists = [cast("list[object]", item) for item in found if isinstance(item, list)]
    return [*map(str, lists[0])]


def _with_shown(found: list[object], shown: list[str]) -> list[object]:
    index = next(i for i, item in enumerate(found) if isinstance(item, list))
    return [*found[:index], shown, *found[index + 1 :]]


def test_analyses_of_a_function_are_computed_in_workers(attempts: list[bool]):
    same(doing("toy-asking", asks_about_function))
    assert attempts == [True]


def test_a_pass_that_asks_about_the_module_is_named(attempts: list[bool]):
    pipeline = Sequential([doing("toy-asking", asks_about_module)] * 2)
    found = _shown(result(pipeline, functions(), 2))
    expected = "warning: pass 'toy-asking' runs on one core: it needs Length of 'builtin.module'"
    assert found == [expected]
    assert attempts == [False]


def test_a_pass_may_declare_that_it_is_not_parallel(attempts: list[bool]):
    seen: list[str] = []

    def notes(func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        seen.append(func.sym_name.data)

    alone = doing("toy-alone", notes, is_parallel=False)
    with PassContext(workers=2):
        Sequential([Doubling(), alone, Remarking()])(functions(4))
    assert seen == ["f0", "f1", "f2", "f3"]
    assert attempts == [True, True]


def test_ops_that_a_pass_acts_on_may_be_in_another_function(attempts: list[bool]):
    class Dead(PatternPass):
        name = "toy-dead"
        acts_on = (arith.MuliOp,)
        remove_dead = True

        def patterns(self) -> Sequence[RewritePattern]:
            return []

    def adds(func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        for op in [op for op in walk(func) if isinstance(op, arith.MuliOp)]:
            Rewriter.replace_op(op, arith.AddiOp(op.lhs, op.rhs))

    body = "%c = arith.constant 1 : i32\n%d = arith.addi %c, %c : i32\nfunc.return"
    for others in ("addi", "muli"):
        source = f"func.func @a() {{ {body} }}\nfunc.func @b(%x: i32) -> i32 {{\n"
        source += f"%y = arith.{others} %x, %x : i32\nfunc.return %y : i32 }}"
        module = Parser(context(), source).parse_module()
        same(Dead(), module)
        # After the first pass, no function has such an op: the second does nothing.
        same(Sequential([doing("toy-adding", adds), Dead()]), module)
    assert attempts == [True, True, False]


class Observer(PassInstrument):
    def run_after_pass(self, module: ModuleOp, info: PassInfo) -> None:
        pass


class Asker(PassInstrument):
    observes_ir = False

    def should_run(self, module: ModuleOp, info: PassInfo) -> bool:
        return True


@table_test(
    "instrument, reason",
    [
        (Observer(), "Observer observes or limits each pass"),
        (StatisticsInstrument(), "StatisticsInstrument observes or limits each pass"),
        (Asker(), "Asker observes or limits each pass"),
    ],
)
def test_instruments_that_observe_passes_keep_them_on_one_core(
    attempts: list[bool], instrument: PassInstrument, reason: str
):
    found = _shown(result(Sequential([Doubling(), Renewing()]), functions(), 2, [instrument]))
    assert found[0] == f"warning: passes run on one core although workers=2: {reason}"
    assert len(found) == 1
    assert not attempts


@table_test(
    "setting, reason",
    [
        ({"rollback": True}, "rollback copies the module before each pass"),
        ({"verify_preserves": True}, "verify_preserves checks the module after each pass"),
        (
            {"check_conditions": "changed"},
            "check_conditions checks the module before and after each pass",
        ),
    ],
)
def test_settings_that_look_at_the_whole_module_keep_passes_on_one_core(
    setting: dict[str, Any], reason: str
):
    assert reason_for_one_core(PassContext(workers=2, **setting)) == reason


def test_times_have_the_same_structure(attempts: list[bool]):
    def names(number: int) -> list[tuple[str, list[str]]]:
        timing = PassTimingInstrument()
        with PassContext(workers=number, instruments=[timing]):
            Sequential([Doubling(), Renewing(), Nothing()])(functions())
        for span in timing.spans:
            assert span.seconds >= sum(child.seconds for child in span.children) > 0
        return [(span.name, [child.name for child in span.children]) for span in timing.spans]

    assert names(2) == names(1)
    assert attempts == [True]


def test_functions_of_a_killed_worker_run_here(
    attempts: list[bool], monkeypatch: pytest.MonkeyPatch
):
    work, transform = ParallelRun._work, ParallelRun._transform  # pyright: ignore[reportPrivateUsage]

    def dying(self: ParallelRun, number: int) -> object:
        if number == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return transform(self, number)

    def work_and_die(self: ParallelRun, send: Send, tasks: int) -> None:
        monkeypatch.setattr(ParallelRun, "_transform", dying)
        work(self, send, tasks)

    monkeypatch.setattr(ParallelRun, "_work", work_and_die)
    same(Sequential([Doubling(), Renewing()]))
    assert attempts == [True]


def test_a_failure_after_a_killed_worker_is_that_of_one_core(
    attempts: list[bool], monkeypatch: pytest.MonkeyPatch
):
    def work(self: ParallelRun, send: Send, tasks: int) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(ParallelRun, "_work", work)
    same(Sequential([Doubling(), doing("toy-failing", fails)]))
    same(Sequential([Doubling(), doing("toy-failing", reports)]))
    assert attempts == [False, False]


def test_a_sample_is_undone_if_workers_do_not_pay(monkeypatch: pytest.MonkeyPatch):
    tried: list[int] = []
    here = ParallelRun._here  # pyright: ignore[reportPrivateUsage]

    def noted(self: ParallelRun, number: int, *rest: object) -> object:
        tried.append(number)
        return here(self, number, *rest)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(ParallelRun, "_here", noted)
    monkeypatch.setattr(workers, "available_cores", lambda: 2)
    monkeypatch.setattr(workers, "can_fork", lambda: True)
    monkeypatch.setattr(parallel_run, "FORK_COST", 1e9)
    monkeypatch.setattr(parallel_run, "_estimates", {})
    same(Sequential([Doubling(), Renewing()]), functions(120, 16))
    assert len(tried) == 1


def test_small_modules_stay_on_one_core(monkeypatch: pytest.MonkeyPatch):
    tried: list[object] = []
    monkeypatch.setattr(ParallelRun, "succeeds", tried.append)
    monkeypatch.setattr(workers, "available_cores", lambda: 2)
    with PassContext(workers=2):
        Sequential([Doubling()])(functions())
    assert not tried


def test_other_threads_keep_passes_on_one_core(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(workers, "available_cores", lambda: 2)
    monkeypatch.setattr(workers, "MIN_OPS", 0)
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    try:
        found = _shown(result(Sequential([Doubling(), Nothing(), Doubling()]), functions(), 2))
    finally:
        end.set()
        thread.join()
    assert [line for line in found if "other threads" in line] == found
    assert len(found) == 1


@table_test(
    "given, expected",
    [
        (None, 1),
        (3, 3),
        ("4", 4),
    ],
)
def test_the_number_of_workers(
    monkeypatch: pytest.MonkeyPatch, given: int | str | None, expected: int
):
    monkeypatch.delenv("PASSLINE_THREADS", raising=False)
    if isinstance(given, str):
        monkeypatch.setenv("PASSLINE_THREADS", given)
        given = None
    assert PassContext(workers=given).workers == expected


def test_a_number_of_workers_has_to_be_positive(monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(ConfigError, match="workers is 1 or more, not 0"):
        PassContext(workers=0)
    with pytest.raises(TypeError, match="workers is a whole number, not '2'"):
        PassContext(workers="2")  # pyright: ignore[reportArgumentType]
    monkeypatch.setenv("PASSLINE_THREADS", "many")
    with pytest.raises(ConfigError, match="PASSLINE_THREADS is a whole number of 1 or more"):
        PassContext()


INTERRUPTED = """
import os, signal, sys, time
from passline.passmanager import FunctionPass, PassContext, Sequential, parallel_run, workers
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.registry import make_ir_context

class Sleeping(FunctionPass):
    def transform_function(self, func, module, ctx):
        time.sleep(60)

workers.available_cores = lambda: 2
workers.MIN_OPS = parallel_run.MIN_OPS = 0
parallel_run.ParallelRun._is_worth_it = lambda *_: True
text = "func.func @f() { func.return } func.func @g() { func.return }"
module = parse_module(make_ir_context(), text, "x.mlir")
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background ignores it
print("ready", flush=True)
try:
    with PassContext(workers=2):
        Sequential([Sleeping()])(module)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_an_interrupt_ends_all_processes():
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    children = f"/proc/{process.pid}/task/{process.pid}/children"
    found: list[str] = []
    for _ in range(500):
        with open(children) as file:
            if len(found := file.read().split()) == 2:
                break
        time.sleep(0.01)
    assert len(found) == 2
    process.send_signal(signal.SIGINT)
    assert process.communicate() == ("interrupted\n", None)
    assert not any(os.path.exists(f"/proc/{child}") for child in found)


def test_an_error_is_raised_as_without_workers(attempts: list[bool]):
    with PassContext(workers=2, renderer=lambda _: None), pytest.raises(DiagnosticError):
        Sequential([doing("toy-failing", reports)])(functions())
    assert attempts == [False]


@table_test("body", [breaks, touches_others])
def test_many_changes_are_verified_in_forks(
    monkeypatch: pytest.MonkeyPatch, body: Callable[..., object]
):
    monkeypatch.setattr(verifier, "_MANY", 0)
    monkeypatch.setattr(forks, "available_cores", lambda: 2)
    monkeypatch.setattr(forks, "can_fork", lambda: True)
    found: list[bool] = []
    are_valid = verifier._are_valid_in_forks  # pyright: ignore[reportPrivateUsage]

    def noted(*arguments: object) -> bool:
        found.append(are_valid(*arguments))  # pyright: ignore[reportArgumentType]
        return found[-1]

    monkeypatch.setattr(verifier, "_are_valid_in_forks", noted)
    same(doing("toy-doing", body, is_parallel=False))
    assert found == [body is not breaks]


def test_one_core_verifies_in_this_process(monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object) -> None:
        raise AssertionError("a fork was made")

    monkeypatch.setattr(verifier, "_MANY", 0)
    monkeypatch.setattr(forks, "available_cores", lambda: 1)
    monkeypatch.setattr(forks, "can_fork", lambda: True)
    monkeypatch.setattr(forks, "in_forks", refuse)
    same(doing("toy-doing", touches_others, is_parallel=False))
