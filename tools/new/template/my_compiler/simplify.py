"""A pattern pass: simplifies powers."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from passline.passmanager import PatternPass

from .dialect import PowerOp

__all__ = ["MergePowers", "RemoveFirstPower", "Simplify"]

MAX_EXPONENT = (1 << 63) - 1


class MergePowers(RewritePattern):
    """Replace the power of a power by one power: (x^a)^b = x^(a*b)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: PowerOp, rewriter: PatternRewriter) -> None:
        inner = op.base.owner
        if not isinstance(inner, PowerOp):
            return
        exponent = inner.exponent.value.data * op.exponent.value.data
        if exponent <= MAX_EXPONENT:
            rewriter.replace(op, PowerOp(inner.base, exponent))


class RemoveFirstPower(RewritePattern):
    """Replace x^1 by x."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: PowerOp, rewriter: PatternRewriter) -> None:
        if op.exponent.value.data == 1:
            rewriter.replace(op, [], [op.base])


@dataclass(frozen=True)
class Simplify(PatternPass):
    """Merge powers of powers, and remove powers with the exponent 1.

    Before:

        func.func @f(%x: i64) -> i64 {
          %a = my_compiler.power %x, 2
          %b = my_compiler.power %a, 3
          func.return %b : i64
        }

    After:

        func.func @f(%x: i64) -> i64 {
          %b = my_compiler.power %x, 6
          func.return %b : i64
        }
    """

    name = "my-compiler-simplify"

    remove_dead = True  # the driver erases the inner power if it has no other use

    def patterns(self) -> list[RewritePattern]:
        return [MergePowers(), RemoveFirstPower()]
