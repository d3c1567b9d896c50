"""The plugin of pytest that collects FileCheck tests: `pytest --lit tests/filecheck`.

pytest loads this module in each environment that has Passline; it imports nothing else until
`--lit` is given.
"""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options `--lit`, `--lit-param` and `--update-checks`."""
    group = parser.getgroup("lit", "FileCheck tests (passline)")
    group.addoption(
        "--lit", action="store_true", help="collect the files with RUN lines, as lit runs them"
    )
    group.addoption(
        "--lit-param",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="set a parameter of lit's configurations, as `lit --param`",
    )
    group.addoption(
        "--update-checks",
        action="store_true",
        help="with --lit: write the CHECK lines of the files anew, from what their tools print",
    )
    parser.addini(
        "lit_suffixes",
        type="args",
        default=[".mlir"],
        help="suffixes of the files that --lit collects where no lit.cfg.py says so",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the hooks that collect and run FileCheck tests, if `--lit` is given."""
    if not config.getoption("lit"):
        if config.getoption("update_checks"):
            raise pytest.UsageError("--update-checks needs --lit")
        return
    try:
        from .lit_items import LitHooks
    except ModuleNotFoundError as error:
        raise pytest.UsageError(f"--lit: {error}") from error
    config.pluginmanager.register(LitHooks(config), "passline-lit-hooks")
