from collections.abc import Sequence

from lit.LitConfig import LitConfig
from lit.TestingConfig import TestingConfig

class ResultCode:
    name: str
    label: str
    isFailure: bool

PASS: ResultCode
FAIL: ResultCode
XFAIL: ResultCode
XPASS: ResultCode
UNRESOLVED: ResultCode
UNSUPPORTED: ResultCode
TIMEOUT: ResultCode

class Result:
    code: ResultCode
    output: str
    def __init__(self, code: ResultCode, output: str = ...) -> None: ...

class TestSuite:
    name: str
    exec_root: str
    config: TestingConfig
    def __init__(
        self,
        name: str,
        source_root: str,
        exec_root: str,
        config: TestingConfig,
        lit_config: LitConfig | None = ...,
    ) -> None: ...
    def getSourcePath(self, components: Sequence[str]) -> str: ...

class Test:
    suite: TestSuite
    path_in_suite: tuple[str, ...]
    config: TestingConfig
    result: Result | None
    def __init__(
        self, suite: TestSuite, path_in_suite: tuple[str, ...], config: TestingConfig
    ) -> None: ...
    def setResult(self, result: Result) -> None: ...
    def getSourcePath(self) -> str: ...
    def getExecPath(self) -> str: ...
    def getFullName(self) -> str: ...
    def isExpectedToFail(self) -> bool: ...
