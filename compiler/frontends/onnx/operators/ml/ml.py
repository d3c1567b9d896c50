"""Converters of ai.onnx.ml: encoders and linear models."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx import numpy_helper
from xdsl.dialects.builtin import f32, i64
from xdsl.ir import SSAValue

from ......dialects.relax.types import Element, Float
from .....interpreters.arrays import Array
from ...errors import Unsupported
from ...node import Converters, Node
from ...types import element_type
from ..expression import Expression, constant, formula, inputs
from .support_vectors import SVM
from .trees import LABELS, TREES, labels_at, transformed

__all__ = ["ML"]


def array_feature_extractor(node: Node) -> SSAValue:
    """Take the columns at the indices."""
    x, indices = node.input(0), node.cast(node.input(1), i64)
    if node.rank(x) == 1:
        x = node.op("expand_dims", x, axis=[0])
    flat = node.op("reshape", indices, newshape=[-1])
    return node.op("take", x, flat, axis=-1, mode="raise")


def scaler(node: Node) -> Expression:
    """Compute (x - offset) * scale, in f32."""
    x = Expression(node, node.input(0)).cast(f32)
    offset, scale = node.floats("offset") or [0.0], node.floats("scale") or [1.0]
    return (x - vector(node, offset)) * vector(node, scale)


def vector(node: Node, numbers: Sequence[float], element: Element = f32) -> Expression:
    """Return a constant vector; a single number as a scalar."""
    array = np.asarray(numbers if len(numbers) != 1 else numbers[0], np.float64)
    return constant(node, array, element)


def normalizer(node: Node) -> Expression:
    """Divide the rows by their maximum absolute value, or their 1- or 2-norm; a row of zeros is
    left as it is."""
    x = Expression(node, node.input(0)).cast(f32)
    norm = node.choice("norm", {name: name for name in ("MAX", "L1", "L2")}, "MAX")
    if norm == "MAX":
        size = x.max(-1, keepdims=True)
    elif norm == "L1":
        size = x.op("abs").sum(-1, keepdims=True)
    else:
        size = (x * x).sum(-1, keepdims=True).op("sqrt")
    return x / size.equals(0.0).where(1.0, size)


def imputer(node: Node) -> Expression:
    """Replace the elements that are missing, by default NaN, by values, one per column."""
    x = Expression(node, node.input(0))
    if isinstance(x.element, Float):
        values, missing = node.floats("imputed_value_floats"), node.float("replaced_value_float")
    else:
        values, missing = node.ints("imputed_value_int64s"), node.int("replaced_value_int64")
    if not values:
        raise Unsupported("it has no values to impute of the type of its input")
    lost = x.op("isnan") if missing != missing else x.equals(missing)
    return lost.where(vector(node, values, x.element), x)


def feature_vectorizer(node: Node) -> SSAValue:
    """Concatenate the columns of all inputs as f32."""
    parts = [x.cast(f32) for x in inputs(node)]
    parts = [x.expand(0) if x.rank == 1 else x.reshape(0, -1) for x in parts]
    sizes = node.ints("inputdimensions") or [x.shape[1] for x in parts]
    if [x.shape[1] for x in parts] != sizes:
        raise Unsupported(f"inputdimensions = {sizes}")
    first, *others = parts
    return first.concat(*others, axis=1).value if others else first.value


def one_hot_encoder(node: Node) -> Expression:
    """Compare each element with each category, as f32; without `zeros`, an element that is none of
    them is an error at run time."""
    x = Expression(node, node.input(0))
    if (categories := node.ints("cats_int64s")) is None:
        raise Unsupported("categories that are strings")
    table = constant(node, np.array(categories, np.int64), i64)
    hits = x.cast(i64).expand(x.rank).equals(table)
    if not node.int("zeros", 1):
        place = hits.cast(i64).op("argmax", axis=-1)
        place = hits.op("any", axis=[-1]).where(place, place.scalar(len(categories)))
        numbers = constant(node, np.arange(len(categories)), i64)
        found = numbers.op("take", place, axis=0, mode="raise")
        hits = found.expand(x.rank).equals(numbers)
    return hits.cast(f32)


# Labels

_KEYS = {"int64s": i64, "floats": f32}


def label_encoder(node: Node) -> Expression:
    """Map numbers to numbers; others become the default."""
    x = Expression(node, node.input(0))
    keys, _ = numbers_of(node, "keys")
    values, element = numbers_of(node, "values")
    if keys.shape != values.shape or not keys.size:
        raise Unsupported(f"{keys.size} keys and {values.size} values")
    if (tensor := node.tensor("default_tensor")) is not None:
        default = numpy_helper.to_array(tensor).item()
    elif isinstance(element, Float):
        default = node.float("default_float", -0.0)
    else:
        default = node.int("default_int64", -1)
    hits = x.expand(x.rank).equals(constant(node, keys, x.element))
    if node.opset >= 4 and isinstance(x.element, Float) and np.isnan(keys.astype(np.float64)).any():
        both = constant(node, np.isnan(keys), hits.element) & x.op("isnan").expand(x.rank)
        hits = hits | both
    place = hits.cast(i64).op("argmax", axis=-1, select_last_index=True)
    found = constant(node, values, element).take(place, 0)
    return hits.op("any", axis=[-1]).where(found, default)


def numbers_of(node: Node, name: str) -> tuple[Array, Element]:
    """Return the keys or the values of a label encoder, and their element type."""
    for kind, element in _KEYS.items():
        if node.given(f"{name}_{kind}"):
            numbers = (
                node.ints(f"{name}_{kind}") if element == i64 else node.floats(f"{name}_{kind}")
            )
            return np.asarray(numbers), element
    if (tensor := node.tensor(f"{name}_tensor")) is not None and tensor.dims:
        return numpy_helper.to_array(tensor).reshape(-1), element_type(tensor.data_type)
    raise Unsupported(f"{name} that are strings")


# Linear models


def linear_regressor(node: Node) -> Expression:
    x, count = Expression(node, node.input(0)).cast(f32), node.int("targets", 1)
    y = linear(node, x, count)
    return transformed(y, node.string("post_transform", "NONE"))


def linear(node: Node, x: Expression, count: int) -> Expression:
    """Return x times the coefficients, plus the intercepts."""
    coefficients = np.asarray(node.floats("coefficients") or [], np.float32)
    if x.rank == 1:
        x = x.expand(0)
    if coefficients.size == 0 or coefficients.size % count:
        raise Unsupported(f"{coefficients.size} coefficients for {count} results")
    y = x @ constant(node, coefficients.reshape(count, -1).transpose(), f32)
    intercepts = node.floats("intercepts")
    return y + constant(node, np.asarray(intercepts), f32) if intercepts else y


def class_count(node: Node) -> int:
    """Return the number of labels."""
    integers, strings = LABELS
    return len(node.ints(integers) or node.strings(strings))


def linear_classifier(node: Node) -> Sequence[SSAValue]:
    x = Expression(node, node.input(0)).cast(f32)
    count = len(node.floats("intercepts") or [])
    known = class_count(node)
    scores = linear(node, x, count or known)
    post = node.string("post_transform", "NONE")
    if count == 1:
        place = (scores > 0.0).cast(i64).squeeze(1)
        if known == 2:
            scores = transformed(scores, post) if post == "LOGISTIC" else scores
            scores = (1.0 - scores).concat(scores, axis=1)
        else:
            scores = transformed(scores, post)
    else:
        place = scores.op("argmax", axis=1)
        scores = transformed(scores, post)
    return [labels_at(node, place, *LABELS), scores.value]


def zip_map(node: Node) -> SSAValue:
    """Return the scores of classes as they are, in the order of the classes: relax has no maps."""
    names = node.strings("classlabels_strings") or node.ints("classlabels_int64s") or []
    text = ", ".join(map(str, names))
    node.warn(f"a tensor is returned in place of maps; its columns are the classes {text}")
    return node.input(0)


ML: Converters = {
    "ArrayFeatureExtractor": array_feature_extractor,
    "Binarizer": formula(lambda x: (x > x.node.float("threshold")).cast(x.element)),
    "FeatureVectorizer": feature_vectorizer,
    "Imputer": imputer,
    "LabelEncoder": label_encoder,
    "LinearClassifier": linear_classifier,
    "LinearRegressor": linear_regressor,
    "Normalizer": normalizer,
    "OneHotEncoder": one_hot_encoder,
    "Scaler": scaler,
    "ZipMap": zip_map,
    **SVM,
    **TREES,
}
