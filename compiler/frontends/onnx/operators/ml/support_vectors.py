"""Converters of support vector machines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import f32, i64
from xdsl.ir import SSAValue

from .....interpreters.arrays import Array
from ...errors import Unsupported
from ...node import Converters, Node
from ..control import while_loop
from ..expression import Expression, constant
from .trees import LABELS, labels_at, transformed

__all__ = ["SVM"]


def svm_regressor(node: Node) -> Expression:
    x = Expression(node, node.input(0)).cast(f32)
    coefficients = np.asarray(node.floats("coefficients") or [], np.float32)
    if (count := node.int("n_supports")) > 0:
        products = kernel(node, x, vectors(node, count))
        y = products @ constant(node, coefficients.reshape(-1, 1), f32)
    else:
        y = x @ constant(node, coefficients.reshape(-1, 1), f32)
    y = y + (node.floats("rho") or [0.0])[0]
    if node.int("one_class"):
        y = (y > 0.0).where(1.0, y.scalar(-1))
    return transformed(y, node.string("post_transform", "NONE"))


def vectors(node: Node, count: int) -> Array:
    """Return the support vectors."""
    numbers = np.asarray(node.floats("support_vectors") or [], np.float32)
    if not numbers.size or numbers.size % count:
        raise Unsupported(f"{numbers.size} numbers in {count} support vectors")
    return numbers.reshape(count, -1)


def kernel(node: Node, x: Expression, support: Array) -> Expression:
    """Return the kernel function of each row of x and each support vector."""
    kinds = {name: name for name in ("LINEAR", "POLY", "RBF", "SIGMOID")}
    kind = node.choice("kernel_type", kinds, "LINEAR")
    gamma, offset, degree = [*(node.floats("kernel_params") or []), 0.0, 0.0, 0.0][:3]
    if kind == "RBF":
        distance = x.expand(1) - constant(node, support, f32)
        return ((distance * distance).sum(-1) * -gamma).op("exp")
    products = x @ constant(node, support.transpose(), f32)
    if kind == "LINEAR":
        return products
    products = products * gamma + offset
    return products.op("tanh") if kind == "SIGMOID" else products.op("power", float(degree))


def svm_classifier(node: Node) -> Sequence[SSAValue]:
    """Convert SVMClassifier: one machine for each pair of classes, which vote."""
    x = Expression(node, node.input(0)).cast(f32)
    sizes = node.ints("vectors_per_class") or []
    if not sizes:
        raise Unsupported("a machine without support vectors")
    count, classes = sum(sizes), len(sizes)
    pairs = [(i, j) for i in range(classes) for j in range(i + 1, classes)]
    products = kernel(node, x, vectors(node, count))
    scores = products @ constant(node, pair_weights(node, sizes, pairs), f32)
    scores = scores + for_pairs(node, "rho", len(pairs))
    votes = np.zeros((2, len(pairs), classes), np.float32)
    for k, (i, j) in enumerate(pairs):
        votes[0, k, i], votes[1, k, j] = 1, 1
    ahead = (scores > 0.0).cast(f32)
    counts = ahead @ constant(node, votes[0], f32) + (1.0 - ahead) @ constant(node, votes[1], f32)
    place = counts.op("argmax", axis=1)
    return [labels_at(node, place, *LABELS), class_scores(node, scores, classes).value]


def pair_weights(node: Node, sizes: Sequence[int], pairs: Sequence[tuple[int, int]]) -> Array:
    """Return the coefficient of each support vector in the machine of each pair of classes."""
    count, ends = sum(sizes), np.cumsum(sizes)
    coefficients = np.asarray(node.floats("coefficients") or [], np.float32)
    coefficients = coefficients.reshape(len(sizes) - 1, count)
    weights = np.zeros((count, len(pairs)), np.float32)
    for k, (i, j) in enumerate(pairs):
        one, other = slice(ends[i] - sizes[i], ends[i]), slice(ends[j] - sizes[j], ends[j])
        weights[one, k] = coefficients[j - 1, one]
        weights[other, k] = coefficients[i, other]
    return weights


def for_pairs(node: Node, name: str, pairs: int) -> Expression:
    """Return an attribute that has a number for each pair of classes."""
    numbers = node.floats(name) or []
    if len(numbers) != pairs:
        raise Unsupported(f"{len(numbers)} numbers in {name} for {pairs} pairs of classes")
    return constant(node, np.asarray(numbers), f32)


def class_scores(node: Node, scores: Expression, classes: int) -> Expression:
    """Return the second result of a classifier, given the scores of pairs of classes: these, or
    the probabilities of the classes."""
    post = node.string("post_transform", "NONE")
    if node.floats("prob_a"):
        pairs = classes * (classes - 1) // 2
        ahead = scores * for_pairs(node, "prob_a", pairs) + for_pairs(node, "prob_b", pairs)
        ahead = (-ahead).op("sigmoid")
        return transformed(coupled(ahead.op("clip", min=1e-7, max=1 - 1e-7), classes), post)
    if classes > 2:
        return transformed(scores, post)
    if post not in ("NONE", "LOGISTIC"):
        raise Unsupported(f"post_transform = '{post}' of two classes")
    return transformed((-scores).concat(scores, axis=1), post)


MIN_LIMIT = 100
"""The steps after which the search for probabilities ends, or one a class if that is more."""


def coupled(ahead: Expression, classes: int) -> Expression:
    """Return the probabilities of classes, given r[i, j], the probability of class i where it is i
    or j: the p that minimizes the sum of (r[j, i] p[i] - r[i, j] p[j])^2.

    It is found as libsvm finds it, class by class, and each row has its own number of steps: the
    result is exact to 0.005 only. Source: Wu, Lin and Weng, "Probability estimates for multi-class
    classification by pairwise coupling", 2004, algorithm 2.
    """
    node = ahead.node
    places = np.full((classes, classes), 2 * (count := classes * (classes - 1) // 2))
    upper = np.triu_indices(classes, 1)
    places[upper], places.T[upper] = np.arange(count), np.arange(count, 2 * count)
    both = ahead.concat(1.0 - ahead, ahead.slice(1, 0, 1) * 0.0, axis=1)
    r = both.take(constant(node, places.reshape(-1), i64), 1).reshape(-1, classes, classes)
    diagonal = (r * r).sum(1)
    own = constant(node, np.eye(classes), f32)
    q = diagonal.expand(2) * own - r * r.transpose(0, 2, 1)

    def step(_: SSAValue, carried: Sequence[SSAValue]):
        p = old = Expression(node, carried[0])
        qp = (q * p.expand(1)).sum(2)
        pqp = (p * qp).sum(1, keepdims=True)
        goes_on = (qp - pqp).op("abs").max(1, keepdims=True) >= 0.005 / classes
        for t in range(classes):
            d, qpt = diagonal.slice(1, t, t + 1), qp.slice(1, t, t + 1)
            change = (pqp - qpt) / d
            whole = change + 1.0
            pqp = (pqp + change * (change * d + 2.0 * qpt)) / whole / whole
            qp = (qp + change * q.at(1, t)) / whole
            p = (p + change * own.slice(0, t, t + 1)) / whole
        none: list[SSAValue] = []
        return goes_on.op("any").value, [goes_on.where(p, old).value], none

    # Not `diagonal * 0`: a row with NaN has equal probabilities, as it has in onnxruntime.
    start = (diagonal > 0.0).cast(f32) * 0.0 + 1 / classes
    limit = node.full(max(MIN_LIMIT, classes), i64)
    (result,) = while_loop(node, limit, None, [start.value], step)
    return Expression(node, result)


SVM: Converters = {"SVMClassifier": svm_classifier, "SVMRegressor": svm_regressor}
