"""xDSL's own tests of canonicalization and of its pattern passes, run by our driver.

Nothing here is skipped: without xDSL's source distribution tests fail.
"""

import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path

import pytest
from filecheck.matcher import Matcher
from filecheck.options import parse_argv_options
from support.releases import has_xdsl
from support.suites.xdsl_sources import xdsl_tests
from xdsl.context import Context
from xdsl.dialects import get_all_dialects
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Region
from xdsl.parser import Parser
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriteWalker
from xdsl.transforms.canonicalize import CanonicalizePass
from xdsl.universe import Universe
from xdsl.xdsl_opt_main import xDSLOptMain

from passline.passes.generic.canonicalize.canonicalize import Canonicalize, canonicalize
from passline.passmanager import PassContext
from passline.passmanager.rewriting import apply_patterns

pytestmark = pytest.mark.filterwarnings("ignore")  # xDSL's

DEVIATIONS = {"riscv_lower_parallel_mov.mlir", "rvscf_lowering_labels.mlir"}
"""Files that expect, in the releases that have a line with `PREFIX`, what xDSL's driver adds to the
message of an exception of a pattern; ours does not change the message."""
PREFIX = "Error while applying pattern"
FOLDED_SINCE_0_66 = ("transforms/eqsat-extract.mlir",)
"""Where xDSL's canonicalization folds operations on constants of `equivalence` since that release,
as ours does with each."""
NOT_PURE_FOR_XDSL = re.compile(
    r"arith\.(extsi|remui)|affine\.(min|for|parallel|load|vector_load)|scf\.execute_region"
    r"|bufferization\.to_|vector\.(bitcast|create_mask|reduction|load|maskedload|transfer_read)"
    r"|llvm\.(alloca|inline_asm|load)|linalg\.|tosa\.const"
)
"""Operations that xDSL keeps where they are dead, and constants that it leaves in their block."""

RUN = re.compile(r"RUN: *xdsl-opt ([^|>\n]*(?<= )-p [^|>\n]*)\| *filecheck([^|\n]*)$", re.MULTILINE)


class CanonicalizeAsXDSL(Canonicalize):
    """Our canonicalization without the patterns of MLIR that xDSL lacks."""

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        canonicalize(module, ctx.ir_context, actions=ctx.actions)


class Opt(xDSLOptMain):
    """xdsl-opt with our canonicalization in place of xDSL's."""

    def register_all_passes(self) -> None:
        super().register_all_passes()
        passes: dict[str, Callable[[], type[ModulePass]]] = self.available_passes
        passes["canonicalize"] = lambda: CanonicalizeAsXDSL


@pytest.fixture(scope="session")
def tests() -> Path:
    """Return the folder of xDSL's FileCheck tests."""
    return xdsl_tests()


def check(tool: type[xDSLOptMain], path: Path, options: str, checks: str, output: Path) -> bool:
    """Run one RUN line in this process; return whether its CHECK lines match."""
    with output.open("w") as stream, redirect_stdout(stream):  # -o would leave out diagnostics
        tool(args=arguments(options, path)).run()
    parsed = parse_argv_options(["filecheck", *arguments(checks, path), f"--input-file={output}"])
    return Matcher.from_opts(parsed).run() == 0


def arguments(text: str, path: Path) -> list[str]:
    return shlex.split(text.replace("%s", str(path)).replace("%p", str(path.parent)))


def canonicalization_tests() -> list[str]:
    """Return the files whose RUN lines canonicalize, so that those of a newer release take part."""
    try:
        folder = xdsl_tests()
    except RuntimeError:  # the sources of xDSL cannot be had: `test_there_are_tests` fails
        return []
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*.mlir")
        for options, _ in RUN.findall(path.read_text())
        if re.search(r"\bcanonicalize\b(?!-)", options.replace("%s", ""))
    )


CANONICALIZATION = [*dict.fromkeys(canonicalization_tests())]


@pytest.mark.parametrize("name", CANONICALIZATION)
def test_canonicalization(name: str, tests: Path, tmp_path: Path):
    path = tests / name
    for options, checks in RUN.findall(path.read_text()):
        if "canonicalize" in options:
            assert check(Opt, path, options, checks, tmp_path / "output")


def test_there_are_tests():
    assert "dialects/arith/canonicalize.mlir" in CANONICALIZATION


def modules(path: Path) -> Iterator[tuple[ModuleOp, Context]]:
    """Yield the parts of a file that are valid IR."""
    for text in path.read_text().split("// -----"):
        ctx = Context(allow_unregistered=True)
        for dialect, factory in get_all_dialects().items():
            ctx.register_dialect(dialect, factory)
        try:
            module = Parser(ctx, text).parse_module()
            module.verify()
        except Exception:  # xDSL tests that this part is rejected
            continue
        yield module, ctx


def test_any_module_of_the_tests_is_canonicalized_as_by_xdsl(tests: Path):
    compared = changed = 0
    different: list[str] = []
    for path in sorted(tests.rglob("*.mlir")):
        for module, ctx in modules(path):
            ours, theirs = module.clone(), module.clone()
            before = str(theirs)
            canonicalize(ours, ctx)
            CanonicalizePass().apply(ctx, theirs)
            after = str(theirs)
            compared += 1
            changed += after != before
            if str(ours) != after and not NOT_PURE_FOR_XDSL.search(after):
                different.append(str(path.relative_to(tests)))
    assert not {*different} - {*(() if has_xdsl("0.66") else FOLDED_SINCE_0_66)}
    assert compared > 700 and changed > 200


def test_pattern_passes_of_xdsl_do_the_same(
    tests: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def holds(path: Path, options: str, checks: str) -> bool:
        try:
            return check(xDSLOptMain, path, options, checks, tmp_path / "output")
        except Exception:  # a line that expects a failure, or needs mlir-opt
            return False

    def rewrite_region(self: PatternRewriteWalker, region: Region) -> bool:
        if self.walk_reverse or self.walk_regions_first or not self.apply_recursively:
            return by_xdsl(self, region)
        driven.add(path)
        return our_rewrite_region(self, region)

    by_xdsl = PatternRewriteWalker.rewrite_region
    driven: set[Path] = set()
    failed: list[tuple[Path, tuple[str, str]]] = []
    with monkeypatch.context() as patch:
        patch.setattr(Universe, "get_multiverse", cache(Universe.get_multiverse))
        patch.setattr(PatternRewriteWalker, "rewrite_region", rewrite_region)
        for path in sorted(tests.rglob("*.mlir")):
            failed += [
                (path, line) for line in RUN.findall(path.read_text()) if not holds(path, *line)
            ]
    driven -= {path for path, _ in failed}
    different = {path for path, line in failed if holds(path, *line)}  # by xDSL's driver
    expect_prefix = {path for path in tests.rglob("*.mlir") if PREFIX in path.read_text()}
    assert different == {path for path in expect_prefix if path.name in DEVIATIONS}
    assert len(driven) > 60, len(driven)


def our_rewrite_region(self: PatternRewriteWalker, region: Region) -> bool:
    """Implement `PatternRewriteWalker.rewrite_region` by our driver."""
    assert region.parent is not None
    result = False
    while True:
        changed = bool(apply_patterns(region.parent, [self.pattern], listener=self.listener))
        if self.post_walk_func is None:
            return changed
        if not self.post_walk_func(region, self.listener) and not changed:
            return result
        result = True
