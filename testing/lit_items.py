"""FileCheck tests as items of pytest: collection, verdicts, and the update of CHECK lines."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from lit import Test as lit_test
from lit.LitConfig import LitConfig
from lit.Test import Result, Test

from .failure_view import FailureView
from .lit_suites import LitSuites, SuiteError

__all__ = ["LitHooks"]

_SKIPPED = ("UNSUPPORTED", "SKIPPED", "EXCLUDED")
_UPDATED = "update-checks"
_OUTPUT = "lit-output"


class LitFailedError(Exception):
    """The error for a test whose verdict is a failure: its code, and the output of its commands."""

    def __init__(self, code: str, output: str) -> None:
        super().__init__(code)
        self.code, self.output = code, output


class LitItem(pytest.Item):
    """One test of lit: all RUN lines of a file."""

    funcargs: Mapping[str, object] = {}
    """The fixtures of a test: none. pytest-lsp 1.0 fails on an item that does not have them."""

    def __init__(self, *, test: Test, lit_config: LitConfig, **kwargs: Any) -> None:
        super().__init__(**kwargs)  # pyright: ignore[reportUnknownMemberType]
        self.test, self.lit_config = test, lit_config

    def runtest(self) -> None:
        """Run the test with lit's verdict, or update its CHECK lines."""
        if self.config.getoption("update_checks"):
            self._update()
            return
        result = self._result()
        reason = result.output.strip() or result.code.label
        if result.code.name in _SKIPPED:
            self._skip(reason)
        if result.code is lit_test.XFAIL:
            pytest.xfail("its XFAIL line says that it fails")
        if result.code is lit_test.XPASS:
            raise LitFailedError("XPASS", "it passes, although its XFAIL line says that it fails")
        if result.code.isFailure:
            raise LitFailedError(result.code.name, result.output)

    def _result(self) -> Result:
        """Return lit's verdict."""
        form = self.test.config.test_format
        if form is None:
            result = Result(lit_test.UNRESOLVED, "the configuration of lit has no test format")
        else:
            found = form.execute(self.test, self.lit_config)
            result = found if isinstance(found, Result) else Result(*found)
        self.test.result = None  # it may be run again
        self.test.setResult(result)
        return result

    def _update(self) -> None:
        from .check_lines.update import LeftAloneError, UpdateFailedError, update_checks

        requested = self.session.isinitpath(self.path)
        try:
            changed = update_checks(self.test, self.lit_config, requested=requested)
        except LeftAloneError as error:
            self._skip(str(error))
        except UpdateFailedError as error:
            raise LitFailedError(f"not updated: {error}", error.output) from None
        else:
            self.user_properties.append((_UPDATED, changed))

    def _skip(self, reason: str) -> None:
        """Skip the test; the report says that the file, and no line of this one, was skipped."""
        skipped = pytest.skip.Exception(reason)
        setattr(skipped, "_use_item_location", True)
        raise skipped

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        error = excinfo.value
        if isinstance(error, LitFailedError):
            return FailureView.of_output(self.path, self._shown_path(), error.code, error.output)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, self._shown_path()

    def _shown_path(self) -> str:
        return os.path.relpath(self.path, self.config.rootpath)


class LitFile(pytest.File):
    """A file with RUN lines."""

    def __init__(self, *, tests: Sequence[Test], lit_config: LitConfig, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.tests, self.lit_config = tests, lit_config

    def collect(self) -> Iterator[pytest.Item]:
        for number, test in enumerate(self.tests):
            name = f"lit{number or ''}"
            yield LitItem.from_parent(  # pyright: ignore[reportUnknownMemberType]
                self, name=name, test=test, lit_config=self.lit_config
            )


class LitHooks:
    """The hooks of pytest for FileCheck tests, and the suites of this run."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self._suites: LitSuites | None = None

    @property
    def suites(self) -> LitSuites:
        if self._suites is None:
            factory: pytest.TempPathFactory = vars(self.config)["_tmp_path_factory"]
            pairs = (text.partition("=") for text in self.config.getoption("lit_param") or ())
            parameters = {name: value for name, _, value in pairs}
            suffixes: list[str] = self.config.getini("lit_suffixes")
            scratch = factory.mktemp("lit")
            self._suites = LitSuites(self.config.rootpath, suffixes, parameters, scratch)
        return self._suites

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> LitFile | None:
        """Collect a file that lit would run."""
        try:
            tests = self.suites.tests(file_path, parent.session.isinitpath)
        except SuiteError as error:
            raise pytest.Collector.CollectError(str(error)) from None
        if not tests:
            return None
        lit_config = self.suites.lit_config
        return LitFile.from_parent(  # pyright: ignore[reportUnknownMemberType]
            parent, path=file_path, tests=tests, lit_config=lit_config
        )

    def pytest_unconfigure(self) -> None:
        """End the processes of warm tools."""
        if self._suites is not None:
            self._suites.close()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Deselect all other tests while CHECK lines are updated."""
        if self.config.getoption("update_checks"):
            others = [item for item in items if not isinstance(item, LitItem)]
            if others:
                self.config.hook.pytest_deselected(items=others)
                items[:] = [item for item in items if isinstance(item, LitItem)]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self,
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Keep the failure of a test in its report as data, which workers of xdist can send."""
        report = yield
        if isinstance(report.longrepr, FailureView):
            setattr(report, "lit_failure", report.longrepr.data())
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Make the view of a failure again that came from a worker of xdist."""
        if (data := getattr(report, "lit_failure", None)) is not None:
            report.longrepr = FailureView(*data)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """List what the update of CHECK lines did."""
        if not self.config.getoption("update_checks"):
            return
        passed: list[pytest.TestReport] = terminalreporter.stats.get("passed", [])
        changes = {r.nodeid: dict(r.user_properties).get(_UPDATED) for r in passed}
        updated = [nodeid for nodeid, changed in changes.items() if changed]
        terminalreporter.section("CHECK lines")
        for nodeid in updated:
            terminalreporter.write_line(f"updated: {nodeid.partition('::')[0]}")
        for report in terminalreporter.stats.get("skipped", []):
            place, reason = report.nodeid.partition("::")[0], report.longrepr[2]
            terminalreporter.write_line(
                f"left as it is: {place}: {reason.removeprefix('Skipped: ')}"
            )
        unchanged = len(changes) - len(updated)
        terminalreporter.write_line(f"{len(updated)} updated, {unchanged} up to date")
