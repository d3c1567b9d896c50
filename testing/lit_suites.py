"""The FileCheck tests in a folder, by lit's own discovery."""

from __future__ import annotations

import inspect
import io
import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import redirect_stderr
from pathlib import Path

from lit import discovery
from lit.formats import ShTest
from lit.LitConfig import LitConfig
from lit.Test import Test, TestSuite
from lit.TestingConfig import TestingConfig

from .lit_format import LitFormat

__all__ = ["LitSuites", "SuiteError"]

_NEVER_TESTS = ("Output", ".svn", ".git")
"""Folders that lit never enters."""


_TEMPORARY = ("TMPDIR", "TMP", "TEMP", "TEMPDIR")


class SuiteError(Exception):
    """The error for a configuration of lit that fails."""


class LitSuites:
    """The test suites of a run: the configurations of lit that apply to files.

    A file without a `lit.cfg.py` in its folder or above is a test if it has one of `suffixes` and
    a RUN line; what such tests write is in the folder `scratch`, which is also that of temporary
    files.
    """

    def __init__(
        self, root: Path, suffixes: Collection[str], parameters: Mapping[str, str], scratch: Path
    ) -> None:
        self._root = root
        self._suffixes = tuple(suffixes)
        self._scratch = scratch
        self._suites: dict[str, tuple[TestSuite | None, tuple[str, ...]]] = {}
        self._configs: dict[tuple[TestSuite, tuple[str, ...]], TestingConfig] = {}
        self._formats: dict[str, LitFormat] = {}  # one process of warm tools for each
        self._plain: TestSuite | None = None
        self.lit_config = _lit_config(parameters)

    def tests(self, path: Path, is_argument: Callable[[Path], bool]) -> list[Test]:
        """Return the tests in a file, in most cases none or one.

        Folders that a configuration excludes are left out, unless they are an argument of the
        command. Errors: SuiteError.
        """
        messages = io.StringIO()
        try:
            with redirect_stderr(messages):
                found = [*self._tests(path, is_argument)]
        except SystemExit:
            raise SuiteError(messages.getvalue().strip()) from None
        sys.stderr.write(messages.getvalue())  # warnings of lit
        return found

    def close(self) -> None:
        """End the processes of warm tools."""
        for form in self._formats.values():
            form.close()

    def _tests(self, path: Path, is_argument: Callable[[Path], bool]) -> Iterator[Test]:
        suite, inner = discovery.getTestSuite(str(path), self.lit_config, self._suites)
        if suite is None:
            if path.name.endswith(self._suffixes) and b"RUN:" in path.read_bytes():
                yield self._test_without_configuration(path)
            return
        for depth in range(len(inner) - 1, 0, -1):
            if is_argument(Path(suite.getSourcePath(inner[:depth]))):
                break
            around = self._config(suite, inner[: depth - 1])
            if inner[depth - 1] in (*_NEVER_TESTS, *around.excludes):
                return
        config = self._config(suite, inner[:-1])
        if config.standalone_tests and not is_argument(path):
            return
        form, place = config.test_format, (suite, inner, self.lit_config, config)
        if form is None:
            yield Test(suite, inner, config)
        elif isinstance(form, LitFormat):  # its own would start the process of warm tools
            yield from ShTest.getTestsForPath(form, *place)
        else:
            yield from form.getTestsForPath(*place)

    def _config(self, suite: TestSuite, folder: tuple[str, ...]) -> TestingConfig:
        """Return the configuration of a folder of a suite, with tools that run warm."""
        config = discovery.getLocalConfig(suite, folder, self.lit_config, self._configs)
        return self._prepared(config)

    def _prepared(self, config: TestingConfig) -> TestingConfig:
        """Let the tests of a configuration use warm tools and the temporary folder of this run."""
        form = config.test_format
        if isinstance(form, ShTest) and type(form) in (ShTest, LitFormat):
            settings = repr(
                (form.execute_external, form.extra_substitutions, form.preamble_commands)
            )
            config.test_format = self._formats.setdefault(settings, _warm(form))
        config.environment |= dict.fromkeys(_TEMPORARY, str(self._scratch))
        return config

    def _test_without_configuration(self, path: Path) -> Test:
        """Return the test of a file to which no configuration applies."""
        if not path.is_relative_to(self._root):
            root = path.parent
            return Test(self._plain_suite(root), (path.name,), self._plain_suite(root).config)
        if self._plain is None:
            self._plain = self._plain_suite(self._root)
        return Test(self._plain, path.relative_to(self._root).parts, self._plain.config)

    def _plain_suite(self, root: Path) -> TestSuite:
        """Return a suite whose tests find the tools of this environment first."""
        config = TestingConfig.fromdefaults(self.lit_config)
        config.name = root.name
        config.test_format = ShTest()
        tools = str(Path(sys.executable).parent)
        config.environment["PATH"] = os.pathsep.join([tools, config.environment["PATH"]])
        return TestSuite(config.name, str(root), str(self._scratch), self._prepared(config))


def _warm(form: ShTest) -> LitFormat:
    """Return a format of the same settings that runs tools of Python warm."""
    if isinstance(form, LitFormat):
        return form
    warm = LitFormat()
    vars(warm).update(vars(form))
    return warm


def _lit_config(parameters: Mapping[str, str]) -> LitConfig:
    """Return lit's settings of a run, as its command line would have them."""
    known = inspect.signature(LitConfig).parameters
    # lit 21 has the second in the place of the first.
    quiet = {"quiet": False} if "quiet" in known else {"diagnostic_level": "note"}
    return LitConfig(
        progname="lit",
        path=[],
        useValgrind=False,
        valgrindLeakCheck=False,
        valgrindArgs=[],
        noExecute=False,
        debug=False,
        isWindows=False,
        order="smart",
        params=dict(parameters),
        **quiet,
    )
