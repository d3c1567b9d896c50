from collections.abc import Iterable, Sequence

from lit.LitConfig import LitConfig
from lit.Test import Result, ResultCode, Test, TestSuite
from lit.TestingConfig import TestingConfig

class TestFormat:
    def execute(self, test: Test, litConfig: LitConfig) -> Result | tuple[ResultCode, str]: ...
    def getTestsForPath(
        self,
        testSuite: TestSuite,
        path_in_suite: tuple[str, ...],
        litConfig: LitConfig,
        localConfig: TestingConfig,
    ) -> Iterable[Test]: ...

class ShTest(TestFormat):
    execute_external: bool
    extra_substitutions: Sequence[tuple[str, str]]
    preamble_commands: Sequence[str]
    def __init__(
        self,
        execute_external: bool = ...,
        extra_substitutions: Sequence[tuple[str, str]] = ...,
        preamble_commands: Sequence[str] = ...,
    ) -> None: ...
