"""CrashReproducer and read_reproducer: the files written, and read, also those of mlir-opt."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from threading import Barrier, Thread

import pytest
from support.passes.toy import Append, Fail, Nothing, Tag, module, named, tags, toy_context
from support.suites.inprocess import mlir_opt
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp
from xdsl.irdl import IRDLOperation, irdl_op_definition
from xdsl.passes import ModulePass
from xdsl.printer import Printer

from passline.passmanager import (
    Fixpoint,
    PassContext,
    PassDependencyError,
    PassInfo,
    PassInstrument,
    PasslineError,
    Sequential,
)
from passline.passmanager.instruments import CrashReproducer, Reproducer, read_reproducer
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.registration import register_pass
from passline.passmanager.run import Run

Capture = pytest.CaptureFixture[str]

TOYS = {cls.name: lambda cls=cls: cls for cls in (Append, Fail, Nothing, Tag)}
NESTED = Sequential([Append("a"), Sequential([Tag(), Fixpoint(Sequential([Nothing(), Fail()]))])])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "crash.mlir"


def fail(path: Path, pipeline: Sequential = NESTED, *, local: bool = False) -> str:
    """Return the reproducer of a run that fails, which the last note of the failure names."""
    with PassContext(instruments=[CrashReproducer(path, local=local)]):
        with pytest.raises(ValueError) as caught:
            pipeline(module("f"))
    assert caught.value.__notes__[-1] == f"reproducer written to '{path}'"
    return path.read_text()


def pipeline_of(text: str) -> str:
    _, reproducer = read_reproducer(text)
    assert reproducer is not None
    return reproducer.pipeline


# Format


def test_file(path: Path, capsys: Capture) -> None:
    text = fail(path)
    assert (
        text
        == f"""\
// passline-opt --run-reproducer {path}
// ValueError: boom
builtin.module {{
  func.func @f() {{
    func.return
  }}
}}

{{-#
  external_resources: {{
    mlir_reproducer: {{
      pipeline: "builtin.module(toy-append{{tag=\\22a\\22}},toy-tag,toy-nothing,toy-fail)",
      disable_threading: true,
      verify_each: true
    }}
  }}
#-}}
"""
    )
    assert capsys.readouterr() == ("", "")


def test_local_file(path: Path) -> None:
    text = fail(path, local=True)
    assert (
        text
        == f"""\
// passline-opt --run-reproducer {path}
// ValueError: boom
builtin.module {{
  func.func @f() attributes {{seen = "yes"}} {{
    func.return
  }}
  "test.op"() {{tag = "a"}} : () -> ()
}}

{{-#
  external_resources: {{
    mlir_reproducer: {{
      pipeline: "builtin.module(toy-fail)",
      disable_threading: true,
      verify_each: true
    }}
  }}
#-}}
"""
    )


def test_command_is_quoted_for_the_shell(tmp_path: Path) -> None:
    path = tmp_path / "a b.mlir"
    assert fail(path).startswith(f"// passline-opt --run-reproducer '{path}'\n")


def test_only_the_first_line_of_the_failure_is_shown(path: Path) -> None:
    text = fail(path, Sequential([Fail("one\ntwo")]))
    assert text.splitlines()[1:3] == ["// ValueError: one", "builtin.module {"]


def test_options_that_need_escapes(path: Path) -> None:
    text = fail(path, Sequential([Append('a"b\\\n\té'), Fail()]))
    assert parse_pipeline(pipeline_of(text), TOYS).passes[0] == Append('a"b\\\n\té')


def test_verify_each_is_that_of_the_context(path: Path) -> None:
    with PassContext(instruments=[CrashReproducer(path)], verify_each=False):
        with pytest.raises(ValueError):
            Fail()(module())
    assert read_reproducer(path.read_text())[1] == Reproducer("builtin.module(toy-fail)", False)


# Always


def succeed(path: Path, pipeline: Sequential, *, verify_each: bool = True) -> str:
    """Return the reproducer of a run without failure."""
    instrument = CrashReproducer(path, always=True)
    with PassContext(1, disabled_pass=["off"], instruments=[instrument], verify_each=verify_each):
        pipeline(module("f"))
    return path.read_text()


def test_file_of_a_run_that_succeeds(path: Path, capsys: Capture) -> None:
    inner = Sequential([Nothing(), named("high", level=2)])
    text = succeed(path, Sequential([Append("a"), named("off"), Fixpoint(inner)]))
    assert (
        text
        == f"""\
// passline-opt --run-reproducer {path}
builtin.module {{
  func.func @f() {{
    func.return
  }}
}}

{{-#
  external_resources: {{
    mlir_reproducer: {{
      pipeline: "builtin.module(toy-append{{tag=\\22a\\22}},toy-nothing)",
      disable_threading: true,
      verify_each: true
    }}
  }}
#-}}
"""
    )
    assert capsys.readouterr() == ("", f"note: reproducer written to '{path}'\n")


def test_always_is_also_on_failure(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.mlir"
    with PassContext(instruments=[CrashReproducer(path), CrashReproducer(other, always=True)]):
        with pytest.raises(ValueError):
            NESTED(module("f"))
    assert other.read_text() == path.read_text().replace(str(path), str(other))


def test_verify_each_is_true_to_the_run_that_succeeds(path: Path) -> None:
    assert "verify_each: false" in succeed(path, Sequential([Nothing()]), verify_each=False)


def test_run_of_no_passes(path: Path) -> None:
    assert pipeline_of(succeed(path, Sequential([named("off")]))) == "builtin.module()"


def test_without_always_nothing_is_written_on_success(path: Path) -> None:
    with PassContext(instruments=[CrashReproducer(path)]):
        Append("a")(module("f"))
    assert not path.exists()


def test_run_within_a_run_has_the_second_file(path: Path) -> None:
    body = named("caller", body=lambda m, ctx: void(Append("inner")(module())))
    assert pipeline_of(succeed(path, Sequential([body]))) == "builtin.module(caller)"
    second = path.with_name("crash.1.mlir").read_text()
    assert pipeline_of(second) == 'builtin.module(toy-append{tag="inner"})'


def void(_: object) -> None: ...


def test_entered_twice_writes_once(path: Path, capsys: Capture) -> None:
    with (ctx := PassContext(instruments=[CrashReproducer(path, always=True)])), ctx:
        Nothing()(module())
    assert capsys.readouterr().err.count("written") == 1


def test_two_threads_have_a_file_each(path: Path) -> None:
    ctx, meet = PassContext(instruments=[CrashReproducer(path, always=True)]), Barrier(2)

    def work(tag: str) -> None:
        with ctx:
            wait = named("wait", body=lambda m, c: void(meet.wait(10)))
            Sequential([wait, Append(tag)])(module())

    threads = [Thread(target=work, args=(tag,)) for tag in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    texts = [p.read_text() for p in (path, path.with_name("crash.1.mlir"))]
    wanted = [f'builtin.module(wait,toy-append{{tag="{tag}"}})' for tag in "ab"]
    assert sorted(map(pipeline_of, texts)) == wanted


def test_file_that_cannot_be_written_is_an_error_where_nothing_else_is(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "r.mlir"
    message = f"reproducer not written to '{path}': No such file or directory"
    with pytest.raises(PasslineError, match=re.escape(message)):
        succeed(path, Sequential([Nothing()]))


# What cannot be printed


@irdl_op_definition
class Unprintable(IRDLOperation):
    name = "toy.unprintable"

    def print(self, printer: Printer) -> None:
        raise NotImplementedError("cannot print")


def test_ir_with_a_broken_printer_is_written_in_generic_form(path: Path) -> None:
    with PassContext(instruments=[CrashReproducer(path)]):
        with pytest.raises(ValueError):
            Fail()(ModuleOp([Unprintable()]))
    assert '"builtin.module"() ({\n  "toy.unprintable"() : () -> ()\n' in path.read_text()


def test_resources_are_written(path: Path) -> None:
    text = (
        '"test.op"() {x = dense_resource<blob_r> : tensor<1xi32>} : () -> ()\n'
        '{-# dialect_resources: { builtin: { blob_r: "0x0400000001000000" } } #-}\n'
    )
    with PassContext(instruments=[CrashReproducer(path)]):
        with pytest.raises(ValueError):
            Fail()(parse_module(toy_context(), text, "x.mlir"))
    ir_text, _ = read_reproducer(path.read_text())
    assert 'blob_r: "0x0400000001000000"' in ir_text
    parse_module(toy_context(), ir_text, "x.mlir")


# What reproduces


@pytest.mark.parametrize("local", [False, True])
def test_file_reproduces_the_failure(path: Path, local: bool) -> None:
    ir_text, reproducer = read_reproducer(fail(path, local=local))
    assert reproducer is not None
    again = parse_module(toy_context(), ir_text, "crash.mlir")
    with pytest.raises(ValueError, match="boom"):
        parse_pipeline(reproducer.pipeline, TOYS)(again)


def test_passes_are_those_that_ran(path: Path) -> None:
    pipeline = Sequential(
        [
            named("disabled"),
            named("high", level=3),
            named("user", requires=["need"]),
            Fail(),
            named("need"),
            named("never"),
        ]
    )
    with PassContext(disabled_pass=["disabled"], instruments=[CrashReproducer(path)]):
        with pytest.raises(ValueError):
            pipeline(module())
    assert pipeline_of(path.read_text()) == "builtin.module(need,user,toy-fail)"


def test_iterations_of_a_fixpoint_are_written_out(path: Path) -> None:
    def fail_late(module: ModuleOp, ctx: PassContext) -> None:
        if len(tags(module)) == 2:
            raise ValueError

    pipeline = Sequential([Fixpoint(Sequential([named("late", body=fail_late), Append()]))])
    text = fail(path, pipeline)
    assert pipeline_of(text) == "builtin.module(late,toy-append,late,toy-append,late)"


def test_options_are_those_of_the_config(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from passline.passmanager.registry import installed

    monkeypatch.setattr(installed(), "passes", dict(installed().passes))
    monkeypatch.setattr(installed(), "names", dict(installed().names))
    register_pass(Append)
    ctx = PassContext(config={"ToyAppend.tag": "set"}, instruments=[CrashReproducer(path)])
    with ctx, pytest.raises(ValueError):
        Sequential([Append(), Append("own"), Fail()])(module())
    expected = 'builtin.module(toy-append{tag="set"},toy-append{tag="own"},toy-fail)'
    assert pipeline_of(path.read_text()) == expected


@pytest.mark.parametrize("local", [False, True])
def test_passes_that_a_leaf_calls_are_part_of_it(path: Path, local: bool) -> None:
    def body(module: ModuleOp, ctx: PassContext) -> None:
        Sequential([Append(), Fail()]).apply(ctx.ir_context, module)

    text = fail(path, Sequential([named("outer", body=body)]), local=local)
    assert pipeline_of(text) == "builtin.module(outer)" and "test.op" not in text


@pytest.mark.parametrize("local", [False, True])
def test_composite_that_fails_itself_is_written_as_a_whole(path: Path, local: bool) -> None:
    undo = [named("p", requires=["q"]), named("q"), named("r", requires=["q", "s"]), named("s")]
    with PassContext(instruments=[CrashReproducer(path, local=local)]):
        with pytest.raises(PassDependencyError):
            Sequential([Nothing(), Sequential(undo)]).apply(toy_context(), module())
    text = path.read_text()
    assert pipeline_of(text) == "builtin.module(sequential(toy-nothing,sequential(p,q,r,s)))"
    assert "test.op" not in text


# When it is written


def test_nothing_is_written_if_nothing_fails(path: Path, capsys: Capture) -> None:
    with PassContext(instruments=[CrashReproducer(path)]):
        Sequential([Append(), Sequential([Nothing()])])(module())
    assert not path.exists() and capsys.readouterr().err == ""


def test_failure_that_a_pass_handles_is_none(path: Path) -> None:
    def body(module: ModuleOp, ctx: PassContext) -> None:
        with pytest.raises(ValueError):
            Fail().apply(ctx.ir_context, module)

    with PassContext(instruments=[CrashReproducer(path)]):
        Sequential([named("careful", body=body)])(module())
    assert not path.exists()


def test_second_failure_does_not_overwrite_the_first(path: Path) -> None:
    ctx = PassContext(instruments=[CrashReproducer(path)])
    notes: list[str] = []
    for message in ("one", "two", "three"):
        with ctx, ctx, pytest.raises(ValueError) as caught:
            Sequential([Fail(message)])(module())
        notes.append(caught.value.__notes__[-1])
    second, third = path.with_name("crash.1.mlir"), path.with_name("crash.2.mlir")
    texts = [file.read_text() for file in (path, second, third)]
    assert [text.splitlines()[1][15:] for text in texts] == ["one", "two", "three"]
    assert texts[1].startswith(f"// passline-opt --run-reproducer {second}\n")
    assert notes[1] == f"reproducer written to '{second}'"


def test_file_that_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "crash.mlir"
    with PassContext(instruments=[CrashReproducer(path)]):
        with pytest.raises(ValueError, match="boom") as caught:
            Fail()(module())
    message = f"reproducer not written to '{path}': No such file or directory"
    assert caught.value.__notes__ == ["in pass 'toy-fail'", message]


def test_ir_that_cannot_be_copied_is_no_reason_to_fail(path: Path) -> None:
    class Deep(ModuleOp):
        def clone(self, *_: object) -> ModuleOp:  # pyright: ignore[reportIncompatibleMethodOverride]
            raise RecursionError

    deep = Deep([])
    with PassContext(instruments=[CrashReproducer(path)]):
        Append().apply(toy_context(), deep)
        with pytest.raises(ValueError) as caught:
            Fail().apply(toy_context(), deep)
    assert tags(deep) == ["x"]
    assert caught.value.__notes__[-1] == (
        f"reproducer not written to '{path}': RecursionError: the IR is nested too deeply"
    )


class Block(PassInstrument):
    """An instrument that blocks the passes of a name."""

    def __init__(self, name: str) -> None:
        self.pass_name = name

    def should_run(self, module: ModuleOp, info: PassInfo) -> bool:
        return info.name != self.pass_name


@pytest.mark.parametrize("reproducer_first", [True, False])
def test_skipped_passes_are_left_out(path: Path, reproducer_first: bool) -> None:
    instruments = [CrashReproducer(path), Block("toy-tag")]
    with PassContext(instruments=instruments if reproducer_first else instruments[::-1]):
        with pytest.raises(ValueError):
            NESTED(module())
    expected = 'builtin.module(toy-append{tag="a"},toy-nothing,toy-fail)'
    assert pipeline_of(path.read_text()) == expected


def test_instrument_that_fails_leaves_nothing_behind(path: Path) -> None:
    class Broken(PassInstrument):
        def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
            raise RuntimeError

    crash = CrashReproducer(path)
    with PassContext(instruments=[crash, Broken()]), pytest.raises(RuntimeError):
        NESTED(module())
    with PassContext(instruments=[crash]):
        Nothing()(module())
        with pytest.raises(ValueError):
            Fail()(module())
    assert pipeline_of(path.read_text()) == "builtin.module(toy-fail)"


def test_instrument_that_comes_in_the_middle_of_a_run_waits_for_the_next(path: Path) -> None:
    crash = CrashReproducer(path)
    install = named("install", body=lambda module, ctx: ctx.override_instruments([crash]))
    with PassContext():
        with pytest.raises(ValueError):
            Sequential([install, Fail()])(module())
        assert not path.exists()
        with pytest.raises(ValueError):
            Fail()(module())
    assert pipeline_of(path.read_text()) == "builtin.module(toy-fail)"


@pytest.mark.parametrize("local", [False, True])
def test_two_threads(path: Path, local: bool) -> None:
    meet = Barrier(2)

    def wait(module: ModuleOp, ctx: PassContext) -> None:
        meet.wait(5)

    ctx = PassContext(instruments=[CrashReproducer(path, local=local)])

    def work(tag: str) -> None:
        passes = [Append(tag), named("wait", body=wait), Sequential([Append(), Fail(tag)])]
        with ctx, pytest.raises(ValueError):
            Sequential(passes)(module(tag))

    threads = [Thread(target=work, args=[tag]) for tag in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for text in (path.read_text(), path.with_name("crash.1.mlir").read_text()):
        (tag,) = set(re.findall("one|two", text.partition("// ValueError")[2]))
        failing = f'toy-fail{{message="{tag}"}}'
        passes = failing if local else f'toy-append{{tag="{tag}"}},wait,toy-append,{failing}'
        assert pipeline_of(text) == f"builtin.module({passes})"
        assert f"func.func @{tag}" in text


# Reading

BLOB = """\
module {
}

{-#
  dialect_resources: {
    builtin: {
      blob1: "0x040000000100000002000000"
    }
  },
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(func.func(cse),x{a=\\"b\\22\\\\ }{ #-}\\"})",
      disable_threading: false,
      verify_each: false
    }
  }
#-}
"""


def test_ir_beside_a_reproducer_stays_where_it_is() -> None:
    ir_text, reproducer = read_reproducer(BLOB)
    assert reproducer == Reproducer('builtin.module(func.func(cse),x{a="b"\\ }{ #-}"})', False)
    assert len(ir_text) == len(BLOB) and ir_text.count("\n") == BLOB.count("\n")
    assert "blob1" in ir_text and "external" not in ir_text and "}," not in ir_text
    parse_module(toy_context(), ir_text, "x.mlir")


@table_test(
    "text",
    [
        "",
        "builtin.module {}",
        '"test.op"() {external_resources = "{-# mlir_reproducer: {}"} : () -> ()',
        "// {-# external_resources: { mlir_reproducer: { } } #-}\nbuiltin.module {}",
        '{-# dialect_resources: { builtin: { x: "external_resources: { }" } } #-}',
    ],
)
def test_text_without_reproducer(text: str) -> None:
    assert read_reproducer(text) == (text, None)


@table_test(
    "text",
    [
        "{-# external_resources: { } #-}",
        '{-# external_resources: { other: { pipeline: "a" } } #-}',
        '{-# external_resources: { other: { x: "mlir_reproducer: { }" } } #-}',
        "{-#\n external_resources: { a: { }, b: { c: 1 } },\n dialect_resources: { }\n#-}",
        "{-#\n dialect_resources: { },\n external_resources: { a: { } }\n#-}",
    ],
)
def test_other_external_resources_are_blanked_too(text: str) -> None:
    ir_text, reproducer = read_reproducer(text)
    assert reproducer is None and len(ir_text) == len(text) and "external" not in ir_text
    parse_module(toy_context(), ir_text, "x.mlir")


def test_order_and_missing_fields_do_not_matter() -> None:
    text = '{-# external_resources:{mlir_reproducer:{verify_each:true,pipeline:"a"},o:{}} #-}'
    assert read_reproducer(text)[1] == Reproducer("a", True)
    text = "{-# external_resources: { o: { }, mlir_reproducer: { } } #-}"
    assert read_reproducer(text)[1] == Reproducer("", True)


@table_test("text", ["{-# external_resources: {", "{-# external_resources: { #-}"])
def test_what_is_no_section_is_left_to_the_parser(text: str) -> None:
    assert read_reproducer(text) == (text, None)


def test_reading_large_resources_is_quick() -> None:
    blob = BLOB.replace("0x04", "0x" + "00" * 2_000_000)
    assert read_reproducer(blob)[1] == read_reproducer(BLOB)[1]
    assert read_reproducer(blob[:-4]) == (blob[:-4], None)


@pytest.mark.skipif(mlir_opt() is None, reason="mlir-opt is not installed")
def test_what_mlir_opt_writes(tmp_path: Path) -> None:
    source, path = tmp_path / "x.mlir", tmp_path / "out.mlir"
    source.write_text("func.func private @f()\n")
    passes = "builtin.module(cse,canonicalize{max-iterations=3})"
    options = [f"--pass-pipeline={passes}", f"--mlir-generate-reproducer={path}"]
    subprocess.run([str(mlir_opt()), source, *options], check=True, capture_output=True)
    ir_text, reproducer = read_reproducer(path.read_text())
    assert reproducer is not None and not reproducer.verify_each
    assert reproducer.pipeline.startswith("builtin.module(cse,canonicalize{")
    assert "func.func private @f()" in ir_text
    parse_module(toy_context(), ir_text, "x.mlir")


@pytest.mark.skipif(mlir_opt() is None, reason="mlir-opt is not installed")
def test_mlir_opt_reads_what_is_written(path: Path) -> None:
    with PassContext(instruments=[CrashReproducer(path)]), pytest.raises(ValueError):
        named("symbol-privatize", body=lambda module, ctx: Fail().apply(ctx.ir_context, module))(
            module("f")
        )
    command = [str(mlir_opt()), "--run-reproducer", str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "func.func private @f()" in done.stdout


def test_the_pipeline_of_modules_in_the_module(path: Path) -> None:
    passes = "builtin.module(builtin.module(toy-nothing))"
    assert pipeline_of(succeed(path, parse_pipeline(passes, TOYS))) == passes


# A pass that ends the process, and passes that run others on a part of the module

ENDING = """
import ctypes, os, signal
from passline.passmanager import ModulePass, parse_pipeline
from xdsl.dialects.builtin import ModuleOp

class Abort(ModulePass):
    name = "toy-abort"
    nestable = True
    def transform_module(self, module, ctx):
        os.abort()

class BadAddress(ModulePass):
    name = "toy-bad-address"
    def transform_module(self, module, ctx):
        ctypes.string_at(1)

class OnInner(ModulePass):
    name = "toy-on-inner"
    def transform_module(self, module, ctx):
        for op in module.ops:
            if isinstance(op, ModuleOp):
                parse_pipeline("cse,toy-abort,cse").apply(ctx.ir_context, op)
"""
INNER = "builtin.module @outer {\n  builtin.module @inner {\n  }\n}\n"


@table_test(
    ("option", "passes", "pipeline"),
    [
        ("crash", "cse,toy-abort,cse", "builtin.module(cse,toy-abort)"),
        ("local", "cse,toy-abort,cse", "builtin.module(toy-abort)"),
        ("crash", "toy-bad-address", "builtin.module(toy-bad-address)"),
        (
            "local",
            "builtin.module(builtin.module(cse,toy-abort))",
            "builtin.module(builtin.module(toy-abort))",
        ),
    ],
)
def test_process_that_ends_leaves_a_file(
    tmp_path_factory: pytest.TempPathFactory, option: str, passes: str, pipeline: str
) -> None:
    folder = tmp_path_factory.mktemp("ending")
    (folder / "ending.py").write_text(ENDING)
    path = folder / "crash.mlir"
    tool = [str(Path(sys.executable).parent / "passline-opt")]
    args = [f"--load={folder / 'ending.py'}", "-p", passes, f"--{option}-reproducer={path}"]
    done = subprocess.run([*tool, *args], input=INNER, capture_output=True, text=True)
    assert done.returncode < 0, "it still ends by the signal"
    assert f"note: reproducer written to '{path}'" in done.stderr
    assert "error: the process is ended by SIG" in done.stderr
    text = path.read_text()
    assert pipeline_of(text) == pipeline
    assert "builtin.module @inner" in text


def test_two_reproducers_of_a_process_that_ends(tmp_path: Path) -> None:
    (tmp_path / "ending.py").write_text(ENDING)
    tool = str(Path(sys.executable).parent / "passline-opt")
    files = [tmp_path / "crash.mlir", tmp_path / "local.mlir"]
    args = [f"--crash-reproducer={files[0]}", f"--local-reproducer={files[1]}"]
    load = f"--load={tmp_path / 'ending.py'}"
    subprocess.run([tool, load, "-p", "cse,toy-abort", *args], input=INNER, text=True, check=False)
    assert [pipeline_of(file.read_text()) for file in files] == [
        "builtin.module(cse,toy-abort)",
        "builtin.module(toy-abort)",
    ]


def inner_pipeline(pipeline: Sequential) -> ModulePass:
    """Return a pass that runs a pipeline on the first op of the module, which is a module."""

    def body(module: ModuleOp, ctx: PassContext) -> None:
        inner = module.body.block.first_op
        assert isinstance(inner, ModuleOp)
        Run.current().part = inner
        pipeline.apply(ctx.ir_context, inner)

    return named("toy-dynamic", body=body)


def failing(path: Path, pipeline: Sequential, *, local: bool) -> str:
    text = "builtin.module @outer { builtin.module @inner { func.func @f() { func.return } } }"
    context = toy_context()
    with PassContext(instruments=[CrashReproducer(path, local=local)]):
        with pytest.raises(ValueError):
            pipeline.apply(context, parse_module(context, text, "x.mlir"))
    return path.read_text()


def test_pass_in_a_pass_is_reproduced_locally(path: Path) -> None:
    pipeline = Sequential([Nothing(), inner_pipeline(Sequential([Nothing(), Fail()]))])
    text = failing(path, pipeline, local=True)
    assert pipeline_of(text) == "builtin.module(builtin.module(toy-fail))"
    assert "builtin.module @outer" in text and [*path.parent.glob("*.mlir")] == [path]


def test_pass_in_a_pass_is_a_part_of_it(path: Path) -> None:
    pipeline = Sequential([Nothing(), inner_pipeline(Sequential([Nothing(), Fail()]))])
    assert pipeline_of(failing(path, pipeline, local=False)) == (
        "builtin.module(toy-nothing,toy-dynamic)"
    )


def test_failure_after_a_pass_in_a_pass_is_that_of_the_outer_one(path: Path) -> None:
    pipeline = Sequential([inner_pipeline(Sequential([Nothing()])), Fail()])
    assert pipeline_of(failing(path, pipeline, local=True)) == "builtin.module(toy-fail)"
