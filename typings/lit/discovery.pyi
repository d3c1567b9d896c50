from lit.LitConfig import LitConfig
from lit.Test import TestSuite
from lit.TestingConfig import TestingConfig

def getTestSuite(
    item: str,
    litConfig: LitConfig,
    cache: dict[str, tuple[TestSuite | None, tuple[str, ...]]],
) -> tuple[TestSuite | None, tuple[str, ...]]: ...
def getLocalConfig(
    ts: TestSuite,
    path_in_suite: tuple[str, ...],
    litConfig: LitConfig,
    cache: dict[tuple[TestSuite, tuple[str, ...]], TestingConfig],
) -> TestingConfig: ...
