"""The test format for lit that runs the Python tools of RUN lines in forks.

import passline.testing
config.test_format = passline.testing.LitFormat()
"""

# lit has no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

import os
import subprocess
from collections.abc import Generator
from importlib.util import find_spec, module_from_spec
from types import ModuleType, SimpleNamespace
from typing import Any

from lit.formats import ShTest
from lit.LitConfig import LitConfig
from lit.Test import Result, Test, TestSuite
from lit.TestingConfig import TestingConfig

from ..tools.server.warm_tools import WarmProcess, WarmTools


class LitFormat(ShTest):
    """lit's format for RUN lines, with its arguments, its verdicts and its output.

    A command that is a Python script of lit's own environment (`xdsl-opt`, `filecheck`, any
    project's tool) runs in a fork of a process that has imported it. All others run as they stand,
    and so does a script that needs a shell (`execute_external`). The process ends with lit.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._tools: WarmTools | None = None
        self._runner: ModuleType | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_runner": None}  # a module; another process makes its own

    def getTestsForPath(
        self,
        testSuite: TestSuite,
        path_in_suite: tuple[str, ...],
        litConfig: LitConfig,
        localConfig: TestingConfig,
    ) -> Generator[Test]:
        """Yield the tests of a file, as lit does; called before lit starts its workers."""
        self._prepare(localConfig, litConfig)
        yield from super().getTestsForPath(testSuite, path_in_suite, litConfig, localConfig)

    def execute(self, test: Test, litConfig: LitConfig) -> Result:
        """Run the RUN lines of a test."""
        runner = self._prepare(test.config, litConfig)
        return runner.executeShTest(
            test,
            litConfig,
            self.execute_external,
            self.extra_substitutions,
            self.preamble_commands,
        )

    def close(self) -> None:
        """End the process of warm tools now; another test would start a new one."""
        if self._tools is not None:
            self._tools.close()
        self._tools = self._runner = None

    def _prepare(self, config: TestingConfig, lit_config: LitConfig) -> ModuleType:
        """Return lit's runner for this process; start the server if there is none yet."""
        if self._tools is None:
            self._tools = WarmTools(config.environment)
            if self.execute_external:
                lit_config.note("passline: RUN lines in an external shell run no tool warm")
        self._tools.note = lit_config.note
        if self._runner is None:
            self._runner = _runner_with(self._tools)
        return self._runner


def _runner_with(tools: WarmTools) -> ModuleType:
    """Return a second instance of lit's runner, in which Python tools start in forks.

    The first, which other formats use, stays as it is.
    """
    import lit.TestRunner

    spec = find_spec("lit.TestRunner")
    assert spec is not None and spec.loader is not None
    runner = module_from_spec(spec)
    spec.loader.exec_module(runner)
    for name in ("ScriptFatal", "TestUpdaterException"):  # which lit's workers catch
        if known := getattr(lit.TestRunner, name, None):
            setattr(runner, name, known)

    # lit's own `cat` and `diff`, which get a PYTHONPATH.
    builtins = os.path.join(os.path.dirname(spec.origin or ""), "builtin_commands", "")

    def start(arguments: list[str], **options: Any) -> WarmProcess | subprocess.Popen[str]:
        warm = None
        own = len(arguments) > 1 and str(arguments[1]).startswith(builtins)
        if not own and not options.keys() - _KNOWN:
            given = {name: options[name] for name in _PASSED & options.keys()}
            warm = tools.start(arguments, **given)
        return warm or subprocess.Popen(arguments, **options)

    setattr(runner, "subprocess", SimpleNamespace(**{**vars(subprocess), "Popen": start}))
    return runner


_PASSED = {"executable", "stdin", "stdout", "stderr", "cwd", "env"}
_KNOWN = _PASSED | {"close_fds", "universal_newlines", "errors"}
"""The options with which lit starts a command; with others it is not done here."""
