"""Converters of tree ensembles: all trees are walked at once, one level at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan

import numpy as np
from onnx import numpy_helper
from xdsl.dialects.builtin import DYNAMIC_INDEX, Float64Type, f32, f64, i1, i64
from xdsl.ir import SSAValue

from .....interpreters.arrays import Array
from ...errors import Unsupported
from ...node import Converters, Node
from ..expression import Expression, constant

__all__ = ["TREES", "labels_at", "transformed"]

MAX_DEPTH = 256
MODES = ("LEQ", "LT", "GTE", "GT", "EQ", "NEQ", "MEMBER", "LEAF")
COMPARISONS = {
    "LEQ": "less_equal",
    "LT": "less",
    "GTE": "greater_equal",
    "GT": "greater",
    "EQ": "equal",
    "NEQ": "not_equal",
}
AGGREGATIONS = ("AVERAGE", "SUM", "MIN", "MAX")
TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")


@dataclass
class Trees:
    """The nodes of all trees; both children of a leaf are the leaf itself."""

    features: Array
    splits: Array
    modes: Sequence[str]
    true: Array
    false: Array
    missing: Array
    """Whether NaN goes to the true child."""
    members: Array | None
    """The values that a node of mode MEMBER compares with, padded with NaN."""
    roots: Array
    weights: Array
    """For each node and target, nonzero for leaves alone."""
    voted: Array
    """Whether a node has a weight for a target."""

    def depth(self) -> int:
        """Return the number of levels below the roots; Unsupported for a cycle."""
        level, depth = np.unique(self.roots), 0
        while (inner := level[self.true[level] != level]).size:
            level = np.unique(np.concatenate([self.true[inner], self.false[inner]]))
            depth += 1
            if depth > MAX_DEPTH:
                raise Unsupported(f"a tree of more than {MAX_DEPTH} levels, or with a cycle")
        return depth

    def leaves(self, x: Expression) -> Expression:
        """Return the leaf that each row of x reaches in each tree.

        All rows begin at the roots, of which there is one row only; so the number of rows need not
        be known. A tree that is a leaf takes one step, to itself.
        """
        node = x.node
        at = constant(node, self.roots, i64)
        values = x.take(constant(node, self.features[self.roots], i64), 1)
        for level in range(max(self.depth(), 1)):
            if level:
                values = x.op("gather", self.column(node, self.features).take(at, 0), axis=1)
            chosen = self.compared(values, at)
            true, false = self.column(node, self.true), self.column(node, self.false)
            at = chosen.where(true.take(at, 0), false.take(at, 0))
        return at

    def column(self, node: Node, array: Array) -> Expression:
        return constant(node, array, i64)

    def compared(self, values: Expression, at: Expression) -> Expression:
        """Compare values with the splits of the nodes that they are at."""
        node = values.node
        splits = constant(node, self.splits, values.element).take(at, 0)
        modes: Array = np.array([MODES.index(mode) for mode in self.modes])
        used = sorted({MODES.index(mode) for mode in self.modes if mode != "LEAF"})
        result: Expression | None = None
        for mode in used:
            if (name := MODES[mode]) == "MEMBER":
                assert self.members is not None
                table = constant(node, self.members, values.element).take(at, 0)
                hit = values.expand(2).equals(table).op("any", axis=[2])
            else:
                hit = values.op(COMPARISONS[name], splits)
            if result is None:
                result = hit
            else:
                here = constant(node, modes == mode, i1).take(at, 0)
                result = here.where(hit, result)
        if result is None:  # all are leaves
            return values.equals(values)
        if self.missing.any():
            tracked = constant(node, self.missing, i1).take(at, 0)
            result = result | (values.op("isnan") & tracked)
        return result

    def aggregated(self, x: Expression, aggregation: str) -> Expression:
        """Return the sum, mean, minimum or maximum of the weights of the leaves."""
        at = self.leaves(x)
        weights = constant(x.node, self.weights, x.element).take(at, 0)
        if aggregation in ("SUM", "AVERAGE"):
            y = weights.sum(1)
            return y / len(self.roots) if aggregation == "AVERAGE" else y
        voted = constant(x.node, self.voted, i1).take(at, 0)
        bound = inf if aggregation == "MIN" else -inf
        y = voted.where(weights, bound).op(aggregation.lower(), axis=[1])
        return voted.op("any", axis=[1]).where(y, 0.0)


def input_of(node: Node, wide: bool) -> Expression:
    """Return the input, a matrix of f32, or of f64 if it is that or the model computes in it."""
    x = Expression(node, node.input(0))
    x = x.cast(f64 if wide or isinstance(x.element, Float64Type) else f32)
    x = x.expand(0) if x.rank == 1 else x
    if x.rank != 2:
        raise Unsupported(f"an input of {x.rank} dimensions, expected 2")
    if x.shape[1] == DYNAMIC_INDEX:
        raise Unsupported("the number of features of the input must be known")
    return x


def check_places(trees: Trees, count: int) -> None:
    """Raise Unsupported if a node or a feature does not exist."""
    last = len(trees.true) - 1
    for places, high in ((trees.true, last), (trees.false, last), (trees.roots, last)):
        if places.size and not 0 <= places.min() <= places.max() <= high:
            raise Unsupported("a tree with a child that does not exist")
    if trees.features.size and not 0 <= trees.features.min() <= trees.features.max() < count:
        raise Unsupported(f"a tree that reads a feature which is not among the {count}")


# TreeEnsemble


def tree_ensemble(node: Node) -> Sequence[SSAValue]:
    def tensor(name: str) -> Array:
        found = node.tensor(name)
        return np.zeros(0) if found is None else numpy_helper.to_array(found)

    def integers(name: str) -> Array:
        return np.asarray(node.ints(name) or [], np.int64)

    splits, leaf_weights = tensor("nodes_splits"), tensor("leaf_weights")
    count, leaves = len(splits), len(leaf_weights)
    modes = [MODES[int(mode)] for mode in tensor("nodes_modes")]
    # The nodes, then the leaves, which are their own children.
    own = np.arange(count, count + leaves)
    children = [
        np.append(np.where(integers(f"nodes_{k}leafs") != 0, ids + count, ids), own)
        for k in ("true", "false")
        for ids in [integers(f"nodes_{k}nodeids")]
    ]
    targets = node.int("n_targets")
    weights = np.zeros((count + leaves, targets))
    weights[own, integers("leaf_targetids")] = leaf_weights
    voted = np.zeros(weights.shape, np.bool_)
    voted[own, integers("leaf_targetids")] = True
    missing = integers("nodes_missing_value_tracks_true")
    missing = np.zeros(count) if missing.size == 0 else missing
    trees = Trees(
        np.append(integers("nodes_featureids"), np.zeros(leaves, np.int64)),
        np.append(splits.astype(np.float64), np.zeros(leaves)),
        modes + ["LEAF"] * leaves,
        children[0],
        children[1],
        np.append(missing, np.zeros(leaves)) != 0,
        member_table(modes, tensor("membership_values"), leaves),
        integers("tree_roots"),
        weights,
        voted,
    )
    x = input_of(node, splits.dtype == np.float64)
    check_places(trees, x.shape[1])
    y = trees.aggregated(x, AGGREGATIONS[node.int("aggregate_function", 1)])
    return [transformed(y, TRANSFORMS[node.int("post_transform")]).value]


def member_table(modes: Sequence[str], values: Array, leaves: int) -> Array | None:
    """Return the sets of the nodes of mode MEMBER, which NaN separates in `values`."""
    if "MEMBER" not in modes:
        return None
    sets: list[list[float]] = [[]]
    for value in values.tolist():
        if value != value:
            sets.append([])
        else:
            sets[-1].append(value)
    table = np.full((len(modes) + leaves, max(map(len, sets))), nan)
    of_nodes = iter(sets)
    for i, mode in enumerate(modes):
        if mode == "MEMBER":
            members = next(of_nodes, list[float]())
            table[i, : len(members)] = members
    return table


# TreeEnsembleRegressor and TreeEnsembleClassifier


def old_trees(node: Node, kind: str, targets: int) -> Trees:
    """Return the trees of an operator before opset 5 of ai.onnx.ml; `kind` is the prefix of the
    attributes of weights."""
    ids = zip(node.ints("nodes_treeids") or [], node.ints("nodes_nodeids") or [], strict=True)
    index = {pair: i for i, pair in enumerate(ids)}
    owners = [tree for tree, _ in index]
    modes = [mode.removeprefix("BRANCH_") for mode in node.strings("nodes_modes")]
    if unknown := {*modes} - {*MODES}:
        raise Unsupported(f"nodes of mode {', '.join(sorted(unknown))}")
    children: list[Array] = []
    try:
        for name in ("nodes_truenodeids", "nodes_falsenodeids"):
            pairs = zip(owners, node.ints(name) or [], modes, strict=True)
            children.append(
                np.array(
                    [
                        i if mode == "LEAF" else index[tree, child]
                        for i, (tree, child, mode) in enumerate(pairs)
                    ]
                )
            )
        weights = np.zeros((len(modes), targets))
        voted = np.zeros(weights.shape, np.bool_)
        lists = [node.ints(f"{kind}_{part}") or [] for part in ("treeids", "nodeids", "ids")]
        for *place, target, weight in zip(*lists, numbers(node, f"{kind}_weights"), strict=True):
            at = index[place[0], place[1]]
            weights[at, target] += weight
            voted[at, target] = True
    except (KeyError, IndexError) as error:
        raise Unsupported(f"a tree without node {error}") from None
    missing = node.ints("nodes_missing_value_tracks_true") or [0] * len(modes)
    roots = sorted({tree: i for i, tree in reversed([*enumerate(owners)])}.values())
    features = np.asarray(node.ints("nodes_featureids"), np.int64)
    features = np.where(np.array(modes) == "LEAF", 0, features)
    return Trees(
        features,
        np.asarray(numbers(node, "nodes_values"), np.float64),
        modes,
        children[0],
        children[1],
        np.asarray(missing) != 0,
        None,
        np.asarray(roots, np.int64),
        weights,
        voted,
    )


def numbers(node: Node, name: str) -> Sequence[float]:
    """Return an attribute of floats, or the tensor that may stand in its place."""
    if (tensor := node.tensor(f"{name}_as_tensor")) is not None and tensor.dims:
        return numpy_helper.to_array(tensor).tolist()
    return node.floats(name) or []


def is_wide(node: Node) -> bool:
    """Return whether the splits are f64."""
    tensor = node.tensor("nodes_values_as_tensor")
    return tensor is not None and bool(tensor.dims)


def tree_regressor(node: Node) -> Sequence[SSAValue]:
    trees = old_trees(node, "target", node.int("n_targets", 1))
    x = input_of(node, is_wide(node))
    check_places(trees, x.shape[1])
    kinds: Mapping[str, str] = {name: name for name in AGGREGATIONS}
    y = trees.aggregated(x, node.choice("aggregate_function", kinds, "SUM"))
    if base := numbers(node, "base_values"):
        y = y + constant(node, np.asarray(base), y.element)
    return [transformed(y, node.string("post_transform", "NONE")).cast(f32).value]


def tree_classifier(node: Node) -> Sequence[SSAValue]:
    """Convert TreeEnsembleClassifier; with two classes and the weights of one, its score and
    the complement are the results."""
    count = len(node.ints("classlabels_int64s") or node.strings("classlabels_strings"))
    trees = old_trees(node, "class", count)
    x = input_of(node, is_wide(node))
    check_places(trees, x.shape[1])
    post, base = node.string("post_transform", "NONE"), list(numbers(node, "base_values"))
    y = trees.aggregated(x, "SUM")
    used = sorted(set(node.ints("class_ids") or []))
    if count == 2:
        if used != [0]:
            raise Unsupported("two classes of which not the first alone has weights")
        place, scores = binary_scores(trees, y.slice(1, 0, 1), post, base)
    else:
        if base:
            if len(base) != count:
                raise Unsupported(f"{len(base)} base values for {count} classes")
            y = y + constant(node, np.asarray(base), y.element)
        place, scores = y.op("argmax", axis=1), transformed(y, post)
    labels = labels_at(node, place, "classlabels_int64s", "classlabels_strings")
    return [labels, scores.cast(f32).value]


def binary_scores(
    trees: Trees, y: Expression, post: str, base: Sequence[float]
) -> tuple[Expression, Expression]:
    """Return the class, 0 or 1, and both scores; weights that are all positive are
    probabilities."""
    if len(base) > 1:
        raise Unsupported("two base values for the weights of one class")
    if base:
        y = y + base[0]
    positive = bool((trees.weights >= 0).all())
    place = (y > (0.5 if positive else 0.0)).cast(i64).squeeze(1)
    if post == "PROBIT":
        raise Unsupported("post_transform = 'PROBIT' of one class")
    if post == "LOGISTIC":
        return place, (-y).op("sigmoid").concat(y.op("sigmoid"), axis=1)
    if positive:
        return place, (1.0 - y).concat(y, axis=1)
    return place, (-y).concat(y, axis=1)


def labels_at(node: Node, place: Expression, integers: str, strings: str) -> SSAValue:
    """Return the labels of classes at positions, by the names of the attributes that have them.
    Labels that are strings, which relax does not have, stay positions, with a warning."""
    if labels := node.ints(integers):
        if len(labels) == 1:
            return place.value
        return constant(node, np.asarray(labels, np.int64), i64).take(place, 0).value
    if names := node.strings(strings):
        node.warn(f"the labels are strings, so their positions are returned: {', '.join(names)}")
    return place.value


def transformed(y: Expression, post: str) -> Expression:
    """Return scores after the `post_transform` of a classifier or regressor."""
    match post:
        case "NONE":
            return y
        case "SOFTMAX":
            return y.op("nn.softmax", axis=-1)
        case "LOGISTIC":
            return y.op("sigmoid")
        case "SOFTMAX_ZERO":
            zero = y.equals(0.0)
            shifted = y - y.max(-1, keepdims=True)
            powers = zero.where(0.0, shifted.op("exp"))
            total = powers.sum(-1, keepdims=True)
            return powers / total.equals(0.0).where(1.0, total)
        case _:
            raise Unsupported(f"post_transform = '{post}'")


TREES: Converters = {
    "TreeEnsemble": tree_ensemble,
    "TreeEnsembleClassifier": tree_classifier,
    "TreeEnsembleRegressor": tree_regressor,
}
