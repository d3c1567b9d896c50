"""SROA: replace allocations of aggregates by allocations of their elements."""

from __future__ import annotations

from collections.abc import Hashable

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import erase, insert_before
from ...passmanager.ir.memory_slots import (
    DESTRUCTURABLE_ACCESSES,
    DESTRUCTURABLE_ALLOCATIONS,
    DestructurableAccessorOpInterface,
)
from ...passmanager.ir.walk import name_of, walk


def replace_aggregates(root: Operation, actions: Actions = SILENT) -> int:
    """Replace the allocations in `root` whose uses all access known elements by one allocation for
    each element in use; return the number of them.

    An element that is an aggregate itself is replaced, too.
    """
    replaced = 0
    pending = [op for op in walk(root) if DESTRUCTURABLE_ALLOCATIONS[type(op)] is not None]
    while pending:
        allocation = pending.pop()
        if (parts := _replace(allocation, actions)) is not None:
            replaced += 1
            pending += parts
    return replaced


def _replace(allocation: Operation, actions: Actions) -> list[Operation] | None:
    """Replace an allocation, and return the new ones; None if it stays as it is."""
    interface = DESTRUCTURABLE_ALLOCATIONS[type(allocation)]
    if interface is None or not (elements := interface.get_elements(allocation)):
        return None
    pointer = allocation.results[0]
    users: dict[Operation, Hashable] = {}
    for user in (use.operation for use in pointer.uses):
        if (access := DESTRUCTURABLE_ACCESSES[type(user)]) is None:
            name = DestructurableAccessorOpInterface.__name__
            reason = f"'{name_of(user)}' does not implement {name}"
        elif (index := access.get_index(user, pointer)) is None or index not in elements:
            reason = f"'{name_of(user)}' does not access one known element"
        else:
            users[user] = index
            continue
        actions.missed(allocation, "NotReplaced", reason)
        return None
    if not actions.allowed(allocation):
        return None
    used = set(users.values())
    parts = {
        index: interface.allocate(allocation, type)
        for index, type in elements.items()
        if index in used
    }
    insert_before(allocation, *parts.values())
    for user, index in users.items():
        access = DESTRUCTURABLE_ACCESSES[type(user)]
        assert access is not None
        access.rewire(user, parts[index].results[0])
    actions.passed(allocation, "Replaced", "by allocations of its elements", Elements=len(parts))
    actions.count("destructured-slots")
    erase(allocation)
    return [*parts.values()]


class SROA(ModulePass):
    """Replace allocations of aggregates by allocations of the elements that are accessed.

    `mem2reg` can make values of these. Source: MLIR's pass of this name.

    Before:

        func.func @main(%x: i32) -> i32 {
          %c1 = arith.constant 1 : index
          %m = memref.alloca() : memref<2xi32>
          memref.store %x, %m[%c1] : memref<2xi32>
          %0 = memref.load %m[%c1] : memref<2xi32>
          func.return %0 : i32
        }

    After:

        func.func @main(%x: i32) -> i32 {
          %c1 = arith.constant 1 : index
          %m = memref.alloca() : memref<i32>
          memref.store %x, %m[] : memref<i32>
          %0 = memref.load %m[] : memref<i32>
          func.return %0 : i32
        }
    """

    name = "sroa"
    nestable = True

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        replace_aggregates(module, ctx.actions)
