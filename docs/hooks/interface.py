"""The reference of the Python interface: directives of mkdocstrings, which reads the signatures and
docstrings from the sources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import passline
from passline import passmanager
from passline.passmanager import PasslineError

__all__ = ["GROUPS", "OTHERS", "api", "infrastructure", "infrastructure_names", "own_names"]

OTHERS: Mapping[str, tuple[str, ...]] = {
    "passline.passmanager.registry": ("make_ir_context",),
    "passline.passmanager.ir.text.parser": ("parse_module",),
    "passline.passmanager.ir.verifier": ("verify",),
    "passline.passmanager.condition_checks": ("unmet_condition",),
    "passline.compiler.frontends.onnx": ("import_model",),
    "passline.compiler.interpreters": ("register_semantics",),
    "passline.compiler.kernels.legalizations": ("register_legalizations",),
    "passline.passes.relax.bind_params": ("bind_params",),
    "passline.compiler.interpreters.codegens": ("Codegen", "register_codegen"),
    "passline.compiler.native": ("compile_module",),
    "passline.tools.corpus.corpus": ("map", "InputOutcome"),
    "passline.tools.extension": ("ToolExtension",),
    "passline.compiler.compile.runtime": ("Library", "Function", "RuntimeTensor", "LibraryError"),
}
"""Public names that other pages mention, by module."""

GROUPS: Mapping[str, tuple[str, ...]] = {
    "Contexts": ("PassContext", "register_config_option"),
    "Passes": (
        *("Pass", "FunctionPass", "ModulePass", "PatternPass", "PassInfo", "Rounding", "info_of"),
        *("function_pass", "module_pass"),
    ),
    "Pipelines": (
        *("Sequential", "Fixpoint", "Repeat", "Plan", "parse_pipeline", "find_pass"),
        *("register_pass", "StagedPipeline", "Stages", "NamedPipeline", "named_pipeline"),
    ),
    "Instruments": ("PassInstrument", "pass_instrument"),
    "Rewriting": ("apply_patterns", "Actions", "Recorder", "SILENT"),
    "Analyses": (
        *("AnalysisManager", "ForwardAnalysis", "BackwardAnalysis", "DenseForwardAnalysis"),
        *("DenseBackwardAnalysis", "BranchTrait", "RegionBranchTrait"),
    ),
    "Conditions": (
        *("Condition", "Violation", "condition", "no_op_of", "only_dialects", "static_shapes"),
    ),
    "Diagnostics and remarks": (
        *("Diagnostic", "DiagnosticContext", "Severity", "Remark", "RemarkKind"),
    ),
}
"""The names of `passline.passmanager`, by subject; exceptions are on a page of their own."""


def api() -> Iterator[str]:
    """Yield the page of the names of `import passline`."""
    yield from ("# Functions in Python", "")
    yield "[Passline in Python](../python.md) shows them at work. The classes of the pass"
    yield "infrastructure, such as `passline.PassContext`, are on"
    yield "[a page of their own](passmanager.md); passes, in `passline.passes`, under"
    yield "[pipelines and passes](pipelines.md); [instruments](instruments.md), in"
    yield from ("`passline.instruments`, and [errors](errors.md) too.", "")
    yield from ("## Functions", "")
    for name in own_names():
        yield from directive(f"passline.{name}")
    yield from ("## Other modules", "", "Names that the other pages mention.", "")
    for module, names in OTHERS.items():
        for name in names:
            yield from directive(f"{module}.{name}", full=True)


def infrastructure() -> Iterator[str]:
    """Yield the page of the names of `passline.passmanager`."""
    yield from ("# The pass infrastructure in Python", "")
    yield "The names of `passline.passmanager`. Those that most programs need are names of"
    yield "`passline` too: `passline.PassContext` is `passline.passmanager.PassContext`."
    yield from ("The exceptions are under [errors](errors.md).", "")
    for title, names in GROUPS.items():
        yield from (f"## {title}", "")
        for name in names:
            yield from directive(f"passline.passmanager.{name}")


def own_names() -> list[str]:
    """Return the functions and classes of `passline` that are not from its packages."""
    found = {name for name in passline.__all__ if callable(getattr(passline, name))}
    return sorted(found - {*passmanager.__all__}, key=str.lower)


def infrastructure_names() -> list[str]:
    """Return the names of `passline.passmanager`, without its exceptions."""
    return [
        name
        for name in passmanager.__all__
        if not (
            isinstance(value := getattr(passmanager, name), type)
            and issubclass(value, PasslineError)
        )
    ]


def directive(name: str, *, full: bool = False) -> Iterator[str]:
    """Yield the directive of mkdocstrings for a name; `full` shows its module in the heading."""
    yield f"::: {name}"
    if full:
        yield from ("    options:", "      show_root_full_path: true")
    yield ""
