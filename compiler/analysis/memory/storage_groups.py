"""Groups of allocations of a function that can share one allocation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from .buffers import byte_size, is_flat, scope_of
from .in_place import find_in_place_updates
from .live_ranges import AllocationUses, OpNumbers, live_range
from .storage_plan import LiveRange, plan_storage, share_storage

ORDINARY_TAGS = {"dyn", "workspace", "vtcm"}
"""Tags of scopes that are allocated like memory without a tag; other tags are special memory."""

REGISTER_SCOPES = {"local", "warp"}
"""Scopes that are left to the register allocator."""

MIN_BYTES = 5
"""The smallest size of a buffer that shares memory, as in TVM."""


@dataclass
class StorageGroup:
    """Allocations that become one, and the byte offset of each in it."""

    members: list[AllocationUses]
    offsets: list[int]


Chain: TypeAlias = list[AllocationUses]
"""Allocations of one type, each computed in place of the one before."""


def chain_in_place_updates(
    allocations: Sequence[AllocationUses], numbers: OpNumbers
) -> list[Chain]:
    """Split `allocations` into chains of in-place updates; most chains have one member."""
    sharing = [uses for uses in allocations if may_share(uses)]
    chains: dict[int, Chain] = defaultdict(list)
    firsts = find_in_place_updates(sharing, [_exact_kind(uses) for uses in sharing], numbers)
    for first, uses in zip(firsts, sharing, strict=True):
        chains[first].append(uses)
    return [*chains.values(), *([uses] for uses in allocations if not may_share(uses))]


def group_storage(
    chains: Iterable[Chain], numbers: OpNumbers, *, reuse: bool
) -> Iterable[StorageGroup]:
    """Yield the groups of allocations that share memory; the members of a chain stay together.

    Allocations in special memory are always merged into one arena per block. Others share memory
    only if `reuse`; in an arena they may overlap only then.
    """
    arenas: dict[Hashable, list[Chain]] = defaultdict(list)
    sharing: list[Chain] = []
    for chain in chains:
        if is_special(chain[0]):
            arenas[_placement(chain[0])].append(chain)
        elif reuse and may_share(chain[0]):
            sharing.append(chain)
        else:
            yield StorageGroup(chain, [0] * len(chain))
    yield from _share(sharing, numbers)
    for arena in arenas.values():
        yield _plan_arena(arena, numbers, reuse)


def _share(chains: Sequence[Chain], numbers: OpNumbers) -> Iterable[StorageGroup]:
    """Yield groups of chains whose live ranges do not overlap; all begin at offset 0."""
    ranges = [_live_range(chain, numbers) for chain in chains]
    kinds = [_sharing_kind(chain[0]) for chain in chains]
    shared: dict[int, list[AllocationUses]] = defaultdict(list)
    for number, chain in zip(share_storage(ranges, kinds), chains, strict=True):
        shared[number] += chain
    for members in shared.values():
        yield StorageGroup(members, [0] * len(members))


def _plan_arena(chains: Sequence[Chain], numbers: OpNumbers, reuse: bool) -> StorageGroup:
    """Return all `chains` as one group, placed at offsets of an arena."""
    ranges = [_live_range(chain, numbers) for chain in chains]
    if not reuse:
        # Equal live ranges overlap: no two chains get the same bytes.
        ranges = [LiveRange(0, 0, live.size) for live in ranges]
    members = [member for chain in chains for member in chain]
    places = zip(plan_storage(ranges).offsets, chains, strict=True)
    return StorageGroup(members, [offset for offset, chain in places for _ in chain])


def _live_range(chain: Chain, numbers: OpNumbers) -> LiveRange:
    """Return the range from the first use of a member of `chain` to the last."""
    ranges = [live_range(member, numbers) for member in chain]
    first, last = min(live.first for live in ranges), max(live.last for live in ranges)
    return LiveRange(first, last, ranges[0].size)


def may_share(uses: AllocationUses) -> bool:
    """Return whether an allocation may share memory: it is not small, and not in registers."""
    size = byte_size(uses.type)
    return scope_of(uses.type) not in REGISTER_SCOPES and (size is None or size >= MIN_BYTES)


def is_special(uses: AllocationUses) -> bool:
    """Return whether an allocation is in tagged memory, such as "local.L0A", of known size.

    Such memory is allocated as a whole: all allocations in it become one.
    """
    _, dot, tag = scope_of(uses.type).partition(".")
    # "global.vtcm" has the tag "vtcm"; "shared" has none.
    return bool(dot) and tag not in ORDINARY_TAGS and byte_size(uses.type) is not None


def _placement(uses: AllocationUses) -> Hashable:
    """Return a key that is equal for allocations in one block, memory space, and kind of memory."""
    return type(uses.op), uses.outermost_block, uses.type.memory_space


def _exact_kind(uses: AllocationUses) -> Hashable:
    """Return a key that is equal for allocations in one place of the same type and sizes."""
    op = uses.op
    attributes = tuple(sorted(op.attributes.items(), key=lambda item: item[0]))
    return _placement(uses), uses.type, tuple(op.operands), attributes


def _sharing_kind(uses: AllocationUses) -> Hashable:
    """Return a key that is equal for allocations that may share one allocation.

    Flat buffers of known size can be views of another type; others need the same type.
    """
    # An attribute of one buffer, such as an alignment, would become that of all.
    is_convertible = is_flat(uses.type) and byte_size(uses.type) is not None
    if is_convertible and not uses.op.attributes:
        return _placement(uses)
    return _exact_kind(uses)
