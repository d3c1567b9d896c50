"""DumpIR: names and first lines of files, refresh, and robustness."""

from __future__ import annotations

import logging
import os
import re
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from threading import Barrier

import pytest
from support.passes.toy import Append, Fail, Nothing, Recorder, Tag, module, named, toy_context
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.passes import ModulePass as XDSLModulePass

from passline.passmanager import Fixpoint, PassContext, Sequential
from passline.passmanager.instruments import DumpIR

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "a" / "dump"


def files(folder: Path) -> list[str]:
    """Return the files in `folder`, at any depth, as `ls` sorts them."""
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def first_lines(folder: Path) -> list[str]:
    return [(folder / name).read_text().partition("\n")[0] for name in files(folder)]


# Files


def test_initial_ir_and_one_file_a_pass_that_changed_it(folder: Path) -> None:
    with PassContext(instruments=[DumpIR(folder)], verify_each=False):
        Sequential([Nothing(), Append("a"), Nothing(), Tag()])(module("f"))
    assert files(folder) == ["00000_initial.mlir", "00001_toy-append.mlir", "00002_toy-tag.mlir"]
    assert (
        (folder / "00000_initial.mlir").read_text()
        == """\
// before 'sequential(toy-nothing,toy-append{tag="a"},toy-nothing,toy-tag)'
builtin.module {
  func.func @f() {
    func.return
  }
}
"""
    )
    assert (
        (folder / "00001_toy-append.mlir").read_text()
        == """\
// after 'toy-append{tag="a"}' (2 of 4)
builtin.module {
  func.func @f() {
    func.return
  }
  "test.op"() {tag = "a"} : () -> ()
}
"""
    )


def test_files_can_be_read_back(folder: Path) -> None:
    with PassContext(instruments=[DumpIR(str(folder))]):
        result = Append()(module("f"))
    text = (folder / "00001_toy-append.mlir").read_text()
    assert Parser(toy_context(), text).parse_module().is_structurally_equivalent(result)


def test_pipelines_inside_the_outermost_are_folders(folder: Path) -> None:
    inner = Sequential([Nothing(), Append("b")], name="inner")
    with PassContext(instruments=[DumpIR(folder)]):
        Sequential([Append("a"), Fixpoint(inner, 2), Sequential([Nothing()]), Append("c")])(
            module()
        )
    assert files(folder) == [
        "00000_initial.mlir",
        "00001_toy-append.mlir",
        "00002_fixpoint/00003_inner/00004_toy-append.mlir",
        "00002_fixpoint/00005_inner/00006_toy-append.mlir",
        "00007_toy-append.mlir",
    ]


def test_failed_pass(folder: Path) -> None:
    def break_it(m: ModuleOp, ctx: PassContext) -> None:
        next(iter(m.ops)).properties.clear()
        raise ValueError("why\nand how")

    breaks = named("breaks", body=break_it)
    with PassContext(instruments=[DumpIR(folder)]), pytest.raises(ValueError):
        Sequential([Append(), Sequential([Nothing(), breaks])])(module("f"))
    assert files(folder)[-1] == "00002_sequential/00003_breaks_FAILED.mlir"
    assert (
        (folder / files(folder)[-1]).read_text()
        == """\
// after 'breaks' (2 of 2), which failed: ValueError: why
"builtin.module"() ({
  "func.func"() ({
    "func.return"() : () -> ()
  }) : () -> ()
  "test.op"() {tag = "x"} : () -> ()
}) : () -> ()
"""
    )


def foreign(pass_name: str) -> XDSLModulePass:
    """A pass of another project, which may have any name."""

    class Foreign(XDSLModulePass):
        name = pass_name

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            Append().transform_module(op, PassContext.current())

    return Foreign()


def test_names_are_made_fit_for_file_systems(folder: Path) -> None:
    names = ["../../etc/x", 'a<>:"/\\|?*b', "tir.UnrollLoop", "ü1", "l" * 300]
    with PassContext(instruments=[DumpIR(folder)]):
        Sequential([foreign(name) for name in names])(module())
    assert files(folder)[1:] == [
        "00001_.._.._etc_x.mlir",
        "00002_a_b.mlir",
        "00003_tir.UnrollLoop.mlir",
        "00004__1.mlir",
        f"00005_{'l' * 100}.mlir",
    ]


def test_ten_thousandth_file_sorts_behind_the_others(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("passline.passmanager.instruments.dump.count", lambda: count(9_998))
    with PassContext(instruments=[DumpIR(folder)]):
        Sequential([Append(), Append(), Append()])(module())
    assert [name[:5] for name in files(folder)] == ["09998", "09999", "10000", "10001"]


# When


def test_nothing_is_made_unless_a_pass_runs(folder: Path) -> None:
    with PassContext(disabled_pass=["toy-append"], instruments=[DumpIR(folder, refresh=True)]):
        pass
    assert not folder.exists()


def test_runs_one_after_another_go_on_counting(folder: Path) -> None:
    dump = DumpIR(folder)
    for tag in "ab":
        with PassContext(instruments=[dump]):
            Sequential([Append(tag)])(module())
    assert first_lines(folder) == [
        "// before 'sequential(toy-append{tag=\"a\"})'",
        "// after 'toy-append{tag=\"a\"}' (1 of 1)",
        "// before 'sequential(toy-append{tag=\"b\"})'",
        "// after 'toy-append{tag=\"b\"}' (1 of 1)",
    ]


# refresh


def test_refresh_deletes_what_an_earlier_one_wrote(folder: Path) -> None:
    def dump() -> None:
        with PassContext(instruments=[DumpIR(folder, refresh=True)]):
            with pytest.raises(ValueError):
                Sequential([Append(), Sequential([Append(), Fail()])])(module())

    dump()
    (folder / "00007_full-disk.mlir").touch()
    before = files(folder)
    dump()
    assert files(folder) == before[:-1]


def test_without_refresh_nothing_is_deleted(folder: Path) -> None:
    for passes in ([Append(), Tag()], [Tag()]):
        with PassContext(instruments=[DumpIR(folder)]):
            Sequential(passes)(module("f"))
    assert files(folder)[-1] == "00002_toy-tag.mlir"


@pytest.mark.parametrize(
    ("foreign", "text"),
    [
        ("notes.txt", ""),
        ("00001_test.mlir", "// RUN: passline-opt %s"),
        ("00001_toy-append.py", "// after 'x'"),
        ("00002_sequential/mine.mlir", "// after 'x'"),
        ("mine/00000_initial.mlir", "// before 'x'"),
    ],
)
def test_refresh_leaves_a_folder_with_something_else_in_it(
    folder: Path, caplog: pytest.LogCaptureFixture, foreign: str, text: str
) -> None:
    (folder / foreign).parent.mkdir(parents=True)
    (folder / foreign).write_text(text)
    (folder / "00000_initial.mlir").write_text("// before 'x'")
    with caplog.at_level(logging.WARNING):
        DumpIR(folder, refresh=True)
    assert len(files(folder)) == 2
    (message,) = caplog.messages
    assert message.startswith(f"'{folder}' is kept: '{folder}/{foreign.split('/')[0]}")


def test_refresh_leaves_links_alone(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    elsewhere = folder.parent / "elsewhere"
    elsewhere.mkdir(parents=True)
    folder.mkdir()
    (folder / "00001_link").symlink_to(elsewhere)
    DumpIR(folder, refresh=True)
    assert elsewhere.exists() and folder.exists() and len(caplog.messages) == 1


def test_refresh_where_a_file_is(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder.parent.mkdir(parents=True)
    folder.write_text("mine")
    DumpIR(folder, refresh=True)
    assert folder.read_text() == "mine" and "Not a directory" in caplog.text


# What it survives


def test_write_failure_stops_no_pass_and_is_raised_at_the_end(folder: Path) -> None:
    folder.parent.mkdir(parents=True)
    folder.write_text("mine")
    ran: list[ModuleOp] = []
    dump = DumpIR(folder)
    with pytest.raises(FileExistsError) as caught:
        with PassContext(instruments=[dump]):
            ran.append(Sequential([Append(), Append()])(module()))
    assert caught.value.filename == f"{folder}/00000_initial.mlir", "the first one"
    assert len(ran) == 1
    with PassContext(instruments=[dump]):
        pass


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_full_disk(folder: Path) -> None:
    folder.mkdir(parents=True)
    for name in ("00000_initial", "00001_toy-append"):
        (folder / f"{name}.mlir").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left on device"):
        with PassContext(instruments=[DumpIR(folder)]):
            Sequential([Append(), Tag()])(module("f"))
    assert (folder / "00002_toy-tag.mlir").read_text().startswith("// after 'toy-tag' (2 of 2)\n")


def test_failing_pass_inside_nested_pipelines(folder: Path) -> None:
    inner = Sequential([Append(), Fail()], name="inner")
    with PassContext(instruments=[DumpIR(folder)]):
        with pytest.raises(ValueError):
            Sequential([Sequential([Fixpoint(inner)])])(module())
        Append()(module())
    below = "00001_sequential/00002_fixpoint/00003_inner"
    assert files(folder) == [
        "00000_initial.mlir",
        f"{below}/00004_toy-append.mlir",
        f"{below}/00005_toy-fail_FAILED.mlir",
        "00006_initial.mlir",
        "00007_toy-append.mlir",
    ]


def test_skipped_passes(folder: Path) -> None:
    blocker = Recorder(blocks=frozenset(["toy-append"]))
    with PassContext(disabled_pass=["toy-nothing"], instruments=[DumpIR(folder), blocker]):
        Sequential([Nothing(), Append(), Tag()])(module("f"))
    assert files(folder) == ["00000_initial.mlir", "00001_toy-tag.mlir"]


def test_hook_of_another_instrument_that_raises(folder: Path) -> None:
    with PassContext(instruments=[DumpIR(folder), Recorder(fail_in=frozenset(["before"]))]) as ctx:
        with pytest.raises(RuntimeError):
            Sequential([Append()])(module())
        ctx.instruments = ctx.instruments[:1]
        Append()(module())
    assert files(folder) == ["00000_initial.mlir", "00001_initial.mlir", "00002_toy-append.mlir"]


def test_two_threads(folder: Path) -> None:
    barrier = Barrier(2, timeout=10)
    dump = DumpIR(folder)

    def run(name: str) -> None:
        def meet(m: ModuleOp, ctx: PassContext) -> None:
            barrier.wait()

        wait = named("waits", body=meet)
        with PassContext(instruments=[dump]):
            Sequential([wait, Append(name), wait, Append(name), wait], name=name)(module(name))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run, ("left", "right")))
    assert len({re.findall(r"\d{5}", name)[-1] for name in files(folder)}) == 6
    (own,) = (path for path in folder.iterdir() if path.is_dir())
    for paths in ([p for p in folder.iterdir() if p.is_file()], own.iterdir()):
        texts = [path.read_text() for path in sorted(paths)]
        name = "left" if "left" in texts[0] else "right"
        assert [text.count(f'{{tag = "{name}"}}') for text in texts] == [0, 1, 2]


def test_entered_twice(folder: Path) -> None:
    dump = DumpIR(folder)
    with PassContext(instruments=[dump]):
        with PassContext(instruments=[dump]):
            Append()(module())
        Append()(module())
    kinds = ["initial", "toy-append"] * 2
    assert files(folder) == [f"{number:05}_{kind}.mlir" for number, kind in enumerate(kinds)]


def test_run_within_a_run_has_a_folder(folder: Path) -> None:
    def run_another(m: ModuleOp, ctx: PassContext) -> None:
        Sequential([Append("inner")], name="other")(module("g"))
        Sequential([Append("outer")]).apply(ctx.ir_context, m)

    with PassContext(instruments=[DumpIR(folder)]):
        Sequential([named("calls", body=run_another), Append()])(module("f"))
    assert files(folder) == [
        "00000_initial.mlir",
        "00001_other/00002_initial.mlir",
        "00001_other/00003_toy-append.mlir",
        "00004_calls/00005_sequential/00006_toy-append.mlir",
        "00007_toy-append.mlir",
    ]
