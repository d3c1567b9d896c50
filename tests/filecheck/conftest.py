"""Collection of the `.mlir` files here: a test for each RUN line, in files of passes a test of the
laws of passes for each pipeline, and in files of dialects a test that ops are printed as they are
written."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from support.passes.laws import check_laws, check_printed, pipeline_of
from support.releases import lacking_release, without_lacking_chunks
from support.suites.inprocess import RunLineError, mlir_opt, run_line, run_lines, substitute


class RunLine(pytest.Item):
    """A test item: one check of a `.mlir` file, of a RUN line or of the laws."""

    funcargs: Mapping[str, object] = {}
    """The fixtures of a test: none. pytest-lsp 1.0 fails on an item that does not have them."""

    def __init__(self, *, check: Callable[[], object], **kwargs: object) -> None:
        super().__init__(**kwargs)  # pyright: ignore[reportArgumentType, reportUnknownMemberType]
        self.check = check

    def runtest(self) -> None:
        self.check()

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None):
        if isinstance(excinfo.value, RunLineError):
            return str(excinfo.value)  # no traceback: all its frames are of the test suite
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, self.name


class MLIRFile(pytest.File):
    """A `.mlir` file with RUN lines."""

    def collect(self) -> Iterator[pytest.Item]:
        lines = run_lines(self.path)
        if not lines:
            raise pytest.Collector.CollectError(f"{self.path} has no RUN line")
        if "REQUIRES: mlir-opt" in self.path.read_text() and mlir_opt() is None:
            self.add_marker(pytest.mark.skip("mlir-opt is not installed (Debian: mlir-22-tools)"))
        if (reason := lacking_release(self.path.read_text())) is not None:
            self.add_marker(pytest.mark.skip(reason))
        for index, line in enumerate(lines, 1):
            yield self.item(f"run{index}", lambda line=line: run_line(line, self.kept()))
        pipelines = dict.fromkeys(p for line in lines if (p := pipeline_of(line)) is not None)
        if "dialects" in self.path.parts and not self.path.name.startswith("invalid"):
            yield self.item("printed", lambda: check_printed(self.kept(), pipelines))
        if "passes" in self.path.parts:
            for pipeline in pipelines:
                yield self.item(f"laws[{pipeline}]", lambda p=pipeline: self.check_laws(p))

    def check_laws(self, pipeline: str) -> None:
        """Check what holds for a pipeline of a RUN line on the file."""
        check_laws(self.kept(), substitute(pipeline, self.path))

    def kept(self) -> Path:
        """Return the file, or a copy without the chunks that need a newer xDSL."""
        return without_lacking_chunks(self.path, Path(tempfile.gettempdir()) / "for-this-xdsl")

    def item(self, name: str, check: Callable[[], object]) -> pytest.Item:
        return RunLine.from_parent(self, name=name, check=check)  # pyright: ignore[reportUnknownMemberType]


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.File | None:
    if parent.config.getoption("lit", False):  # lit runs the files as they stand
        return None
    if file_path.suffix == ".mlir" and "Inputs" not in file_path.parts:
        return MLIRFile.from_parent(parent, path=file_path)  # pyright: ignore[reportUnknownMemberType]
    return None
