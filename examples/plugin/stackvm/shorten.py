"""A pass that takes its place in `-O2` and `-O3` by itself: shorter programs on tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import StringAttr
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from passline.passmanager import PatternPass

from .evaluate import EvaluateOp

__all__ = ["ShortenPrograms", "shortened"]

SHORTER = {"swap swap": "", "dup swap": "dup", "swap +": "+", "swap *": "*"}
"""Words that follow each other, and what does the same."""


def shortened(words: Sequence[str]) -> list[str]:
    """Return the words of a program that does the same, without swaps that nobody sees."""
    short: list[str] = []
    for word in words:
        short.append(word)
        while (pair := " ".join(short[-2:])) in SHORTER:
            short[-2:] = SHORTER[pair].split()
    return short


class ShortenProgram(RewritePattern):
    """Replace a program by a shorter one that does the same."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: EvaluateOp, rewriter: PatternRewriter) -> None:
        words = op.program.data.split()
        if (short := shortened(words)) != words:
            program = {"program": StringAttr(" ".join(short))}
            types = [op.result.type]
            rewriter.replace(
                op, EvaluateOp(operands=[op.operands_], result_types=types, properties=program)
            )


@dataclass(frozen=True)
class ShortenPrograms(PatternPass):
    """Shorten programs on tensors, once constants are folded and before kernels are made of them.

    Before:

        func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {
          %y = stackvm.evaluate "dup swap swap +"(%x) : (tensor<3xf32>) -> tensor<3xf32>
          func.return %y : tensor<3xf32>
        }

    After:

        func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {
          %y = stackvm.evaluate "dup +"(%x) : (tensor<3xf32>) -> tensor<3xf32>
          func.return %y : tensor<3xf32>
        }
    """

    name = "stackvm-shorten"
    opt_level = 2
    # By these two lines it takes part in `optimize`, and so in -O2 and -O3.
    after = ("fold-constant",)
    before = ("fuse-ops",)

    acts_on = (EvaluateOp,)

    def patterns(self) -> list[RewritePattern]:
        return [ShortenProgram()]
