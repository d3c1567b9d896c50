# pyright: basic, reportMissingImports=false
"""Export Keras models with random weights to ONNX, by the backend of PyTorch.

    python keras_models.py FOLDER [NAME...]

Needs keras, torch and onnxscript, and runs in an environment that has no other part of this
project. Images have their channels last, and
the batch is unknown, as Keras has it.
"""

from __future__ import annotations

import os

os.environ["KERAS_BACKEND"] = "torch"  # before Keras is imported

from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import onnx
from exporting import export_all
from keras import layers

# Classifiers of keras.applications, at small sizes: the operations are those of large ones. The
# exporter refuses Xception and ConvNeXt: padding by a computed amount, and the layers
# LayerNormalization, RMSNormalization and Conv3D.
APPLICATIONS = {
    "VGG16": 48,
    "ResNet50": 64,
    "ResNet50V2": 64,
    "InceptionV3": 96,
    "MobileNet": 96,
    "MobileNetV2": 96,
    "MobileNetV3Small": 96,
    "DenseNet121": 64,
    "EfficientNetB0": 96,
    "EfficientNetV2B0": 96,
}
ROWS = 2
"""The batch of the inputs."""


def application(name: str, size: int) -> keras.Model:
    return getattr(keras.applications, name)(input_shape=(size, size, 3), weights=None)


def on(shape: tuple[int | None, ...], *stack: Any, dtype: str = "float32") -> keras.Model:
    """Return a model of layers, one after the other."""
    given = made = keras.Input(shape, dtype=dtype)
    for layer in stack:
        made = layer(made)
    return keras.Model(given, made)


def encoder() -> keras.Model:
    """Return a classifier of tokens: two blocks of attention, each part after a norm."""
    tokens = keras.Input((16,), dtype="int32")
    x = layers.Embedding(100, 32)(tokens)
    for _ in range(2):
        y = layers.BatchNormalization()(x)
        x = x + layers.MultiHeadAttention(4, 8)(y, y, use_causal_mask=True)
        y = layers.Dense(64, activation="gelu")(layers.BatchNormalization()(x))
        x = x + layers.Dense(32)(y)
    return keras.Model(tokens, layers.Dense(5, "softmax")(layers.GlobalAveragePooling1D()(x)))


def grouped_attention() -> keras.Model:
    x = keras.Input((9, 32))
    return keras.Model(x, layers.GroupQueryAttention(8, 4, 2)(x, x))


def unet() -> keras.Model:
    """Return a network that joins the images on its way down to those on its way up."""
    given = x = keras.Input((32, 32, 3))
    kept = []
    for channels in (8, 16):
        x = layers.Conv2D(channels, 3, padding="same", activation="relu")(x)
        kept.append(x)
        x = layers.MaxPooling2D()(x)
    for channels, other in zip((16, 8), reversed(kept), strict=True):
        x = layers.Conv2DTranspose(channels, 3, strides=2, padding="same")(x)
        x = layers.Conv2D(channels, 3, padding="same")(layers.Concatenate()([x, other]))
        x = layers.LeakyReLU()(layers.BatchNormalization()(x))
    return keras.Model(given, layers.Conv2D(2, 1, activation="sigmoid")(x))


def two_towers() -> keras.Model:
    """Return a recommender: the cosine of what is embedded of two numbers."""
    given = [keras.Input((1,), dtype="int32") for _ in range(2)]
    towers = [layers.Flatten()(layers.Embedding(50, 16)(x)) for x in given]
    towers = [layers.UnitNormalization()(layers.Dense(8, "relu")(x)) for x in towers]
    return keras.Model(given, layers.Dot(axes=1)(towers))


MODELS: dict[str, Callable[[], keras.Model]] = {
    **{
        name.lower(): lambda name=name, size=size: application(name, size)
        for name, size in APPLICATIONS.items()
    },
    "encoder": encoder,
    "grouped_attention": grouped_attention,
    "unet": unet,
    "two_towers": two_towers,
    "dense": lambda: on(
        (20,),
        layers.Normalization(mean=[0.5] * 20, variance=[2.0] * 20),
        layers.Dense(32, "selu"),
        layers.Dropout(0.5),
        layers.Dense(3, "softmax"),
    ),
    "lstm": lambda: on((12, 8), layers.LSTM(16, return_sequences=True), layers.LSTM(16)),
    "gru": lambda: on((12, 8), layers.GRU(16, return_sequences=True), layers.GRU(16)),
    "bidirectional": lambda: on((12, 8), layers.Bidirectional(layers.LSTM(8))),
    "simple_rnn": lambda: on((12, 8), layers.SimpleRNN(16)),
    "conv_lstm": lambda: on((4, 8, 8, 2), layers.ConvLSTM2D(4, 3, padding="same")),
    "conv1d": lambda: on(
        (50, 4),
        layers.Conv1D(8, 5, padding="causal", dilation_rate=2, activation="relu"),
        layers.MaxPooling1D(),
        layers.SeparableConv1D(12, 3),
        layers.GlobalMaxPooling1D(),
    ),
    "depthwise": lambda: on(
        (20, 20, 8),
        layers.DepthwiseConv2D(5, strides=2, padding="same", depth_multiplier=2),
        layers.ReLU(6.0),
        layers.SeparableConv2D(12, 3, padding="same", dilation_rate=2),
        layers.SpatialDropout2D(0.2),
    ),
    "grouped": lambda: on((16, 16, 8), layers.Conv2D(16, 3, groups=4, padding="same")),
    "resized": lambda: on(
        (9, 7, 3),
        layers.Rescaling(1 / 255, offset=-0.5),
        layers.Resizing(16, 16),
        layers.UpSampling2D((2, 3), interpolation="bilinear"),
        layers.CenterCrop(20, 20),
        layers.ZeroPadding2D(((1, 2), (0, 3))),
        layers.Cropping2D(2),
    ),
    "normalized": lambda: on(
        (6, 6, 8),
        layers.BatchNormalization(),
        layers.UnitNormalization(),
        layers.PReLU(shared_axes=(1, 2)),
        layers.ELU(),
    ),
    "reshaped": lambda: on(
        (4, 6, 8),
        layers.Permute((3, 1, 2)),
        layers.Reshape((8, -1)),
        layers.TimeDistributed(layers.Dense(5)),
        layers.Flatten(),
        layers.RepeatVector(3),
    ),
}


def inputs_of(model: keras.Model) -> list[np.ndarray]:
    """Return random inputs: integers are tokens."""
    rng = np.random.default_rng(0)
    made = []
    for given in model.inputs:
        shape = (ROWS, *given.shape[1:])
        if given.dtype == "int32":
            made.append(rng.integers(0, 50, shape, dtype=np.int32))
        else:
            made.append(rng.random(shape, dtype=np.float32))
    return made


def export(name: str, path: Path) -> dict[str, np.ndarray]:
    keras.utils.set_random_seed(0)
    model = MODELS[name]()
    inputs = inputs_of(model)
    model(inputs if len(inputs) > 1 else inputs[0])  # Keras exports what has been called
    model.export(str(path), format="onnx", verbose=False)
    names = [value.name for value in onnx.load(path).graph.input]
    return dict(zip(names, inputs, strict=True))


if __name__ == "__main__":
    export_all({name: lambda path, name=name: export(name, path) for name in MODELS})
