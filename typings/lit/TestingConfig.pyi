from lit.formats import TestFormat
from lit.LitConfig import LitConfig

class TestingConfig:
    name: str
    suffixes: set[str]
    excludes: set[str]
    environment: dict[str, str]
    substitutions: list[tuple[str, str]]
    available_features: set[str]
    test_format: TestFormat | None
    test_source_root: str | None
    test_exec_root: str | None
    standalone_tests: bool
    unsupported: bool
    recursiveExpansionLimit: int | None
    @staticmethod
    def fromdefaults(litConfig: LitConfig) -> TestingConfig: ...
