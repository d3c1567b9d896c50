"""Drawings of imports between packages, as SVG: a package stands above those that it imports."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

__all__ = ["drawing"]

WIDTH, HEIGHT, GAP, STEP = 176, 36, 24, 84
STYLE = (
    "text { font: 14px system-ui, sans-serif; text-anchor: middle; fill: #1c1e21; } "
    "rect { fill: #cfe3ff; stroke: #00000055; } "
    "path { fill: none; stroke: #7f868f; stroke-width: 1.4; }"
)
ARROW = (
    '<defs><marker id="h" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
    'orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" style="fill: #7f868f"/></marker></defs>'
)


def drawing(title: str, order: Sequence[str], imports: Mapping[str, Collection[str]]) -> str:
    """Return the drawing of the packages `order`, given from the lowest to the highest.

    An import that others imply is left out. An arrow has two heads if two packages import each
    other.
    """
    below = {name: {*imports[name]}.intersection(order[:at]) for at, name in enumerate(order)}
    levels: dict[str, int] = {}
    for name in order:
        levels[name] = max((levels[other] + 1 for other in below[name]), default=0)
    rows = [[n for n in order if levels[n] == level] for level in range(max(levels.values()) + 1)]
    width = max(map(len, rows)) * (WIDTH + GAP) + GAP
    height = (len(rows) - 1) * STEP + HEIGHT + 2 * GAP
    places: dict[str, tuple[int, int]] = {}
    for row, names in enumerate(reversed(rows)):
        start = (width - len(names) * (WIDTH + GAP) + GAP) // 2
        for column, name in enumerate(names):
            places[name] = start + column * (WIDTH + GAP), GAP + row * STEP
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{title}">',
        f"<style>{STYLE}</style>",
        ARROW,
    ]
    for name, other in _necessary(below):
        (x, y), (to_x, to_y) = places[name], places[other]
        start = ' marker-start="url(#h)"' if name in imports[other] else ""
        half = WIDTH // 2
        line = f"M{x + half} {y + HEIGHT}L{to_x + half} {to_y - 2}"
        lines.append(f'<path d="{line}"{start} marker-end="url(#h)"/>')
    for name, (x, y) in places.items():
        lines.append(f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="6"/>')
        text = name.replace(".", "/")
        lines.append(f'<text x="{x + WIDTH // 2}" y="{y + 23}">{text}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def _necessary(below: Mapping[str, Collection[str]]) -> Iterator[tuple[str, str]]:
    """Yield the imports that no path of other imports implies."""
    reached: dict[str, set[str]] = {}
    for name, direct in below.items():
        indirect = {far for other in direct for far in reached[other]}
        reached[name] = indirect | set(direct)
        yield from ((name, other) for other in sorted(set(direct) - indirect))
