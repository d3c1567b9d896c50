# pyright: basic, reportMissingImports=false
"""Export PyTorch models with random weights to ONNX.

    python pytorch.py FOLDER [NAME...]

Needs torch, torchvision, transformers and onnxscript, and runs in an environment that has no other
part of this project.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torchvision
import transformers
from exporting import export_all
from torch import Tensor, nn
from torch.nn import functional as F

Inputs = dict[str, Tensor]


@dataclass(frozen=True)
class Export:
    """A model to export, with its inputs and the dimensions that are unknown."""

    make: Callable[[], nn.Module]
    inputs: Callable[[], Inputs]
    dynamic: dict[str, dict[int, str]] = field(default_factory=dict)
    """Input -> dimension -> name."""
    dynamo: bool = True
    """Whether the exporter is the one on torch.export; else it is the older one, TorchScript's."""
    opset: int = 18
    keywords: bool = False
    """Whether the model takes its inputs by name."""


EXPORTS: dict[str, Export] = {}


class Last(nn.Module):
    """A model whose result is one entry of another model's."""

    def __init__(self, model: nn.Module, *keys: str) -> None:
        super().__init__()
        self.model, self.keys = model, keys

    def forward(self, *args: Tensor, **kwargs: Tensor) -> Any:
        result = self.model(*args, **kwargs)
        entries = tuple(result[key] for key in self.keys)
        return entries[0] if len(entries) == 1 else entries


class Function(nn.Module):
    """A function as a model."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Tensor) -> Any:
        return self.function(*args)


def image(*sizes: int) -> Callable[[], Inputs]:
    return lambda: {"x": torch.rand(sizes)}


def tokens(batch: int, length: int, below: int = 100) -> Tensor:
    return torch.randint(0, below, (batch, length))


# Classifiers of torchvision, at small sizes: the kinds of operations are those of large ones.
SIZES = {
    "alexnet": 96,
    "vgg11_bn": 64,
    "resnet18": 96,
    "resnext50_32x4d": 64,
    "wide_resnet50_2": 64,
    "squeezenet1_1": 96,
    "densenet121": 64,
    "googlenet": 96,
    "inception_v3": 96,
    "mobilenet_v2": 96,
    "mobilenet_v3_small": 96,
    "mobilenet_v3_large": 96,
    "shufflenet_v2_x1_0": 96,
    "mnasnet0_5": 96,
    "efficientnet_b0": 96,
    "efficientnet_v2_s": 64,
    "regnet_x_400mf": 96,
    "regnet_y_400mf": 96,
    "convnext_tiny": 64,
    "swin_t": 64,
    "swin_v2_t": 64,
    "maxvit_t": 224,
    "vit_b_16": 224,
}


def classifier(name: str) -> Callable[[], nn.Module]:
    options = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
    return lambda: torchvision.models.get_model(name, weights=None, **options)


for name, size in SIZES.items():
    EXPORTS[name] = Export(classifier(name), image(1, 3, size, size))
for name in ("resnet18", "mobilenet_v2", "efficientnet_b0", "swin_t"):
    size = SIZES[name]
    EXPORTS[f"{name}-script"] = Export(classifier(name), image(1, 3, size, size), dynamo=False)
    EXPORTS[f"{name}-batch"] = Export(
        classifier(name), image(2, 3, size, size), {"x": {0: "batch"}}
    )
for name in ("resnet18", "mobilenet_v3_small", "densenet121"):
    EXPORTS[f"{name}-image"] = Export(
        classifier(name), image(2, 3, 96, 128), {"x": {0: "batch", 2: "height", 3: "width"}}
    )
for opset in (17, 19, 20, 21):
    EXPORTS[f"resnet18-opset{opset}"] = Export(
        classifier("resnet18"), image(1, 3, 64, 64), dynamo=opset > 17, opset=opset
    )


def vision(name: str, **options: Any) -> Callable[[], nn.Module]:
    def make() -> nn.Module:
        return torchvision.models.get_model(name, weights=None, weights_backbone=None, **options)

    return make


for name in ("deeplabv3_resnet50", "deeplabv3_mobilenet_v3_large", "fcn_resnet50"):
    EXPORTS[name] = Export(lambda name=name: Last(vision(name)(), "out"), image(1, 3, 128, 128))
EXPORTS["lraspp_mobilenet_v3_large"] = Export(
    lambda: Last(vision("lraspp_mobilenet_v3_large")(), "out"), image(1, 3, 128, 128)
)


class Detector(nn.Module):
    """A detector whose results are tensors."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, x: Tensor) -> Any:
        (found,) = self.model([x])
        return tuple(found.values())


for name, size in {
    "ssdlite320_mobilenet_v3_large": 320,
    "ssd300_vgg16": 300,
    "fasterrcnn_mobilenet_v3_large_320_fpn": 320,
    "retinanet_resnet50_fpn": 128,
    "fcos_resnet50_fpn": 128,
    "maskrcnn_resnet50_fpn": 128,
    "keypointrcnn_resnet50_fpn": 128,
}.items():
    options = {} if size >= 300 else {"min_size": size, "max_size": size}
    EXPORTS[name] = Export(
        lambda name=name, options=options: Detector(vision(name, **options)()),
        image(3, size, size),
        dynamo=False,
    )
EXPORTS["fasterrcnn_mobilenet_v3_large_320_fpn-image"] = Export(
    lambda: Detector(vision("fasterrcnn_mobilenet_v3_large_320_fpn")()),
    image(3, 96, 128),
    {"x": {1: "height", 2: "width"}},
    dynamo=False,
)


class Flow(nn.Module):
    """RAFT with two steps: the flow after the last one."""

    def __init__(self) -> None:
        super().__init__()
        self.model = torchvision.models.get_model("raft_small", weights=None)

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return self.model(a, b, num_flow_updates=2)[-1]


EXPORTS["raft_small"] = Export(
    Flow, lambda: {"a": torch.rand(1, 3, 128, 128), "b": torch.rand(1, 3, 128, 128)}
)
for name in ("r3d_18", "mc3_18", "r2plus1d_18"):
    EXPORTS[name] = Export(
        lambda name=name: torchvision.models.get_model(name, weights=None), image(1, 3, 4, 48, 48)
    )
EXPORTS["s3d"] = Export(
    lambda: torchvision.models.get_model("s3d", weights=None), image(1, 3, 16, 64, 64)
)
EXPORTS["swin3d_t"] = Export(
    lambda: torchvision.models.get_model("swin3d_t", weights=None), image(1, 3, 4, 64, 64)
)


# Transformers by configuration: small, with all the parts of the real ones.
SMALL = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "vocab_size": 100,
}


class Named(nn.Module):
    """A model of transformers that returns tensors: the first result, or `keys`."""

    def __init__(self, model: nn.Module, *keys: str, **fixed: Any) -> None:
        super().__init__()
        self.model, self.keys, self.fixed = model, keys, fixed

    def forward(self, **inputs: Tensor) -> Any:
        result = self.model(**inputs, **self.fixed)
        return tuple(result[key] for key in self.keys) if self.keys else result[0]


class Masked(Named):
    """The same for tokens and a mask by position: the guards that torch.export makes for unknown
    sizes are wrong for inputs by name (PyTorch 2.14)."""

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Any:
        return super().forward(input_ids=input_ids, attention_mask=attention_mask)


def wrapped(
    wrapper: type[Named], kind: str, config: str, /, *keys: str, **options: Any
) -> Callable[[], nn.Module]:
    def make() -> nn.Module:
        made = getattr(transformers, config)(**options)
        return wrapper(getattr(transformers, kind)(made), *keys)

    return make


def transformer(kind: str, config: str, /, *keys: str, **options: Any) -> Callable[[], nn.Module]:
    return wrapped(Named, kind, config, *keys, **options)


def text(batch: int = 2, length: int = 16, mask: bool = True) -> Callable[[], Inputs]:
    def inputs() -> Inputs:
        given = {"input_ids": tokens(batch, length)}
        return given | ({"attention_mask": torch.ones(batch, length).long()} if mask else {})

    return inputs


ENCODERS = {
    "bert": ("BertModel", "BertConfig", SMALL),
    "roberta": ("RobertaModel", "RobertaConfig", SMALL),
    "electra": ("ElectraModel", "ElectraConfig", SMALL | {"embedding_size": 32}),
    "distilbert": (
        "DistilBertModel",
        "DistilBertConfig",
        {"dim": 64, "n_layers": 2, "n_heads": 4, "hidden_dim": 128, "vocab_size": 100},
    ),
    "albert": ("AlbertModel", "AlbertConfig", SMALL | {"embedding_size": 32}),
    "deberta_v2": (
        "DebertaV2Model",
        "DebertaV2Config",
        SMALL | {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
    ),
    "mpnet": ("MPNetModel", "MPNetConfig", SMALL),
    "modernbert": (
        "ModernBertModel",
        "ModernBertConfig",
        SMALL
        | {"local_attention": 8, "global_attn_every_n_layers": 2}
        | {f"{kind}_token_id": i for i, kind in enumerate(("pad", "eos", "bos", "cls", "sep"))},
    ),
}
DECODERS = {
    "gpt2": (
        "GPT2LMHeadModel",
        "GPT2Config",
        {"n_embd": 64, "n_layer": 2, "n_head": 4, "vocab_size": 100, "n_positions": 64},
    ),
    "gpt_neox": ("GPTNeoXForCausalLM", "GPTNeoXConfig", SMALL),
    "opt": (
        "OPTForCausalLM",
        "OPTConfig",
        SMALL | {"ffn_dim": 128, "word_embed_proj_dim": 64, "max_position_embeddings": 64},
    ),
    "llama": ("LlamaForCausalLM", "LlamaConfig", SMALL),
    "mistral": ("MistralForCausalLM", "MistralConfig", SMALL | {"num_key_value_heads": 2}),
    "qwen2": ("Qwen2ForCausalLM", "Qwen2Config", SMALL | {"num_key_value_heads": 2}),
    "qwen3": (
        "Qwen3ForCausalLM",
        "Qwen3Config",
        SMALL | {"num_key_value_heads": 2, "head_dim": 16},
    ),
    "gemma": (
        "GemmaForCausalLM",
        "GemmaConfig",
        SMALL | {"num_key_value_heads": 2, "head_dim": 16},
    ),
    "phi": ("PhiForCausalLM", "PhiConfig", SMALL),
    "mixtral": (
        "MixtralForCausalLM",
        "MixtralConfig",
        SMALL | {"num_key_value_heads": 2, "num_local_experts": 4},
    ),
    "mamba": (
        "MambaForCausalLM",
        "MambaConfig",
        {"hidden_size": 64, "num_hidden_layers": 2, "state_size": 8, "vocab_size": 100},
    ),
    "bloom": (
        "BloomForCausalLM",
        "BloomConfig",
        {"hidden_size": 64, "n_layer": 2, "n_head": 4, "vocab_size": 100},
    ),
    "gemma2": (
        "Gemma2ForCausalLM",
        "Gemma2Config",
        SMALL | {"num_key_value_heads": 2, "head_dim": 16, "sliding_window": 8, "pad_token_id": 0},
    ),
    "olmo2": (
        "Olmo2ForCausalLM",
        "Olmo2Config",
        SMALL | {"num_key_value_heads": 2, "pad_token_id": 0},
    ),
    "deepseek_v3": (
        "DeepseekV3ForCausalLM",
        "DeepseekV3Config",
        SMALL
        | {"q_lora_rank": 16, "kv_lora_rank": 16, "num_key_value_heads": 4}
        | {"qk_rope_head_dim": 8, "qk_nope_head_dim": 8, "v_head_dim": 16}
        | {"n_routed_experts": 4, "num_experts_per_tok": 2, "n_group": 2, "topk_group": 1}
        | {"moe_intermediate_size": 32, "first_k_dense_replace": 1}
        | {"experts_implementation": "batched_mm"},
    ),
    "mamba2": (
        "Mamba2ForCausalLM",
        "Mamba2Config",
        {"hidden_size": 64, "num_hidden_layers": 2, "state_size": 8, "vocab_size": 100}
        | {"num_heads": 8, "head_dim": 16, "n_groups": 2, "chunk_size": 8},
    ),
    "rwkv": (
        "RwkvForCausalLM",
        "RwkvConfig",
        {"hidden_size": 64, "num_hidden_layers": 2, "intermediate_size": 128, "vocab_size": 100},
    ),
}
RECURRENT = ("mamba", "mamba2", "rwkv")
"""The decoders that take no mask."""
BOTH = {"input_ids": {0: "batch", 1: "length"}, "attention_mask": {0: "batch", 1: "length"}}
for name, (kind, config, options) in ENCODERS.items():
    EXPORTS[name] = Export(transformer(kind, config, **options), text(), keywords=True)
for name in ("bert", "roberta", "distilbert", "deberta_v2", "modernbert"):
    kind, config, options = ENCODERS[name]
    EXPORTS[f"{name}-dynamic"] = Export(wrapped(Masked, kind, config, **options), text(), BOTH)
for name, (kind, config, options) in DECODERS.items():
    EXPORTS[name] = Export(
        transformer(kind, config, use_cache=False, **options),
        text(mask=name not in RECURRENT),
        keywords=True,
    )
for name in ("gpt2", "llama", "qwen2"):
    kind, config, options = DECODERS[name]
    EXPORTS[f"{name}-dynamic"] = Export(
        wrapped(Masked, kind, config, use_cache=False, **options), text(), BOTH
    )


class WithPast(nn.Module):
    """A decoder that takes the keys and values of the tokens before as tensors, and returns those
    of all tokens."""

    def __init__(self, model: nn.Module, layers: int) -> None:
        super().__init__()
        self.model, self.layers = model, layers

    def forward(self, input_ids: Tensor, mask: Tensor, *past: Tensor) -> Any:
        pairs = [(past[2 * i], past[2 * i + 1]) for i in range(self.layers)]
        cache = transformers.DynamicCache(pairs)
        result = self.model(
            input_ids=input_ids, attention_mask=mask, past_key_values=cache, use_cache=True
        )
        made = result.past_key_values
        states = [state for layer in made.layers for state in (layer.keys, layer.values)]
        return result.logits, *states


def with_past(name: str, heads: int, past: int = 5) -> Export:
    kind, config, options = DECODERS[name]

    def make() -> nn.Module:
        return WithPast(getattr(transformers, kind)(getattr(transformers, config)(**options)), 2)

    def inputs() -> Inputs:
        states = {
            f"past_{i}_{what}": torch.rand(2, heads, past, 16)
            for i in range(2)
            for what in ("key", "value")
        }
        mask = torch.ones(2, past + 1).long()
        return {"input_ids": tokens(2, 1), "mask": mask} | states

    return Export(make, inputs)


EXPORTS["gpt2-past"] = with_past("gpt2", 4)
EXPORTS["llama-past"] = with_past("llama", 4)
EXPORTS["qwen2-past"] = with_past("qwen2", 2)
EXPORTS["olmo2-past"] = with_past("olmo2", 2)

SEQUENCES = {
    "d_model": 64,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 128,
    "decoder_ffn_dim": 128,
    "vocab_size": 100,
}


def pair() -> Inputs:
    return {"input_ids": tokens(2, 12), "decoder_input_ids": tokens(2, 7)}


EXPORTS["t5"] = Export(
    transformer(
        "T5ForConditionalGeneration",
        "T5Config",
        d_model=64,
        d_kv=16,
        d_ff=128,
        num_layers=2,
        num_heads=4,
        vocab_size=100,
        use_cache=False,
    ),
    pair,
    keywords=True,
)
EXPORTS["bart"] = Export(
    transformer("BartModel", "BartConfig", use_cache=False, **SEQUENCES), pair, keywords=True
)
EXPORTS["marian"] = Export(
    transformer("MarianModel", "MarianConfig", use_cache=False, pad_token_id=99, **SEQUENCES),
    pair,
    keywords=True,
)
EXPORTS["whisper"] = Export(
    transformer(
        "WhisperModel",
        "WhisperConfig",
        use_cache=False,
        max_source_positions=50,
        num_mel_bins=20,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=1,
        **SEQUENCES,
    ),
    lambda: {"input_features": torch.rand(1, 20, 100), "decoder_input_ids": tokens(1, 7)},
    keywords=True,
)
PATCHES = SMALL | {"image_size": 64, "patch_size": 16}
PATCHES.pop("vocab_size")
EXPORTS["vit"] = Export(
    transformer("ViTModel", "ViTConfig", **PATCHES),
    lambda: {"pixel_values": torch.rand(2, 3, 64, 64)},
    keywords=True,
)
EXPORTS["deit"] = Export(
    transformer("DeiTModel", "DeiTConfig", **PATCHES),
    lambda: {"pixel_values": torch.rand(2, 3, 64, 64)},
    keywords=True,
)
EXPORTS["dinov2"] = Export(
    transformer("Dinov2Model", "Dinov2Config", **PATCHES | {"patch_size": 8}),
    lambda: {"pixel_values": torch.rand(2, 3, 64, 64)},
    keywords=True,
)
EXPORTS["segformer"] = Export(
    transformer(
        "SegformerForSemanticSegmentation",
        "SegformerConfig",
        hidden_sizes=[16, 32, 64, 64],
        depths=[1, 1, 1, 1],
        decoder_hidden_size=64,
    ),
    lambda: {"pixel_values": torch.rand(1, 3, 64, 64)},
    keywords=True,
)
EXPORTS["clip"] = Export(
    transformer(
        "CLIPModel",
        "CLIPConfig",
        "logits_per_image",
        "text_embeds",
        "image_embeds",
        text_config=SMALL | {"eos_token_id": 2},
        vision_config=PATCHES,
        projection_dim=32,
    ),
    lambda: {
        "input_ids": tokens(2, 8),
        "pixel_values": torch.rand(2, 3, 64, 64),
        "attention_mask": torch.ones(2, 8).long(),
    },
    keywords=True,
)
SPEECH = SMALL | {
    "conv_dim": (32, 32, 32),
    "conv_stride": (5, 2, 2),
    "conv_kernel": (10, 3, 3),
    "num_conv_pos_embeddings": 16,
    "num_conv_pos_embedding_groups": 4,
}
for name in ("Wav2Vec2", "Hubert", "WavLM"):
    EXPORTS[name.lower()] = Export(
        transformer(f"{name}Model", f"{name}Config", **SPEECH),
        lambda: {"input_values": torch.rand(1, 2000)},
        keywords=True,
    )


def detector() -> nn.Module:
    backbone = transformers.ResNetConfig(
        embedding_size=16,
        hidden_sizes=[16, 32, 32, 64],
        depths=[1, 1, 1, 1],
        out_features=["stage4"],
    )
    options = {key: size for key, size in SEQUENCES.items() if key != "vocab_size"}
    config = transformers.DetrConfig(
        **options,
        backbone_config=backbone,
        backbone=None,
        use_timm_backbone=False,
        use_pretrained_backbone=False,
        num_queries=10,
        num_labels=5,
    )
    return Named(transformers.DetrForObjectDetection(config), "logits", "pred_boxes")


EXPORTS["detr"] = Export(
    detector, lambda: {"pixel_values": torch.rand(1, 3, 96, 128)}, keywords=True
)
EXPORTS["sam"] = Export(
    transformer(
        "SamModel",
        "SamConfig",
        "iou_scores",
        "pred_masks",
        vision_config={
            "hidden_size": 32,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "image_size": 64,
            "patch_size": 8,
            "mlp_dim": 64,
            "output_channels": 32,
            "window_size": 3,
            "global_attn_indexes": [1],
            "num_pos_feats": 16,
        },
        prompt_encoder_config={"hidden_size": 32, "image_size": 64, "patch_size": 8},
        mask_decoder_config={
            "hidden_size": 32,
            "mlp_dim": 64,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "iou_head_hidden_dim": 32,
        },
    ),
    lambda: {
        "pixel_values": torch.rand(1, 3, 64, 64),
        "input_points": torch.rand(1, 1, 2, 2) * 60,
    },
    keywords=True,
)
EXPORTS["swin2sr"] = Export(
    transformer(
        "Swin2SRForImageSuperResolution",
        "Swin2SRConfig",
        image_size=32,
        embed_dim=24,
        depths=[2, 2],
        num_heads=[2, 2],
        window_size=4,
        upscale=2,
        upsampler="pixelshuffle",
    ),
    lambda: {"pixel_values": torch.rand(1, 3, 32, 32)},
    keywords=True,
)
EXPORTS["dac"] = Export(
    transformer(
        "DacModel",
        "DacConfig",
        "audio_values",
        encoder_hidden_size=8,
        downsampling_ratios=[2, 4],
        decoder_hidden_size=64,
        n_codebooks=3,
        codebook_size=64,
        codebook_dim=8,
    ),
    lambda: {"input_values": torch.rand(1, 1, 800)},
    keywords=True,
)
EXPORTS["patchtst"] = Export(
    transformer(
        "PatchTSTForPrediction",
        "PatchTSTConfig",
        "prediction_outputs",
        num_input_channels=3,
        context_length=32,
        patch_length=8,
        patch_stride=8,
        prediction_length=6,
        d_model=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        ffn_dim=64,
    ),
    lambda: {"past_values": torch.rand(2, 32, 3)},
    keywords=True,
)


# Single layers and functions of PyTorch, in each of their modes.
def layer(name: str, make: Callable[[], nn.Module], *shapes: tuple[int, ...], **more: Any) -> None:
    def inputs() -> Inputs:
        return {f"x{i}": torch.rand(shape) for i, shape in enumerate(shapes)}

    EXPORTS[name] = Export(make, inputs, **more)


def function(name: str, call: Callable[..., Any], *shapes: tuple[int, ...], **more: Any) -> None:
    layer(name, lambda: Function(call), *shapes, **more)


for mode in ("nearest", "nearest-exact", "bilinear", "bicubic", "area"):
    for aligned in (False, True) if mode in ("bilinear", "bicubic") else (None,):
        function(
            f"interpolate-{mode}{'-aligned' if aligned else ''}",
            lambda x, mode=mode, aligned=aligned: F.interpolate(
                x, size=(13, 22), mode=mode, align_corners=aligned
            ),
            (2, 3, 9, 14),
        )
function(
    "interpolate-antialias",
    lambda x: F.interpolate(x, size=(5, 7), mode="bilinear", antialias=True),
    (2, 3, 9, 14),
)
function(
    "interpolate-linear", lambda x: F.interpolate(x, scale_factor=2.5, mode="linear"), (2, 3, 9)
)
function(
    "interpolate-trilinear",
    lambda x: F.interpolate(x, scale_factor=2, mode="trilinear"),
    (1, 3, 4, 5, 6),
)
for mode in ("bilinear", "nearest", "bicubic"):
    function(
        f"grid_sample-{mode}",
        lambda x, grid, mode=mode: F.grid_sample(x, grid * 2 - 1, mode=mode, align_corners=False),
        (2, 3, 8, 9),
        (2, 5, 6, 2),
        opset=20,
    )
for dims, kind in ((1, nn.Conv1d), (2, nn.Conv2d), (3, nn.Conv3d)):
    space = (11, 12, 13)[:dims]
    layer(
        f"conv{dims}d",
        lambda kind=kind: kind(4, 8, 3, stride=2, padding=2, dilation=2, groups=2),
        (2, 4, *space),
    )
for dims, kind in ((1, nn.ConvTranspose1d), (2, nn.ConvTranspose2d), (3, nn.ConvTranspose3d)):
    space = (5, 6, 7)[:dims]
    layer(
        f"conv_transpose{dims}d",
        lambda kind=kind: kind(4, 8, 3, stride=2, padding=1, output_padding=1),
        (2, 4, *space),
    )


class Recurrent(nn.Module):
    def __init__(self, kind: type[nn.Module], **options: Any) -> None:
        super().__init__()
        self.cell = kind(12, 16, batch_first=True, **options)

    def forward(self, x: Tensor) -> Tensor:
        return self.cell(x)[0]


layer("lstm", lambda: Recurrent(nn.LSTM, num_layers=2), (2, 9, 12))
layer("lstm-bidirectional", lambda: Recurrent(nn.LSTM, bidirectional=True), (2, 9, 12))
layer("gru", lambda: Recurrent(nn.GRU, num_layers=2), (2, 9, 12))
layer("rnn", lambda: Recurrent(nn.RNN), (2, 9, 12))
layer(
    "transformer_encoder",
    lambda: nn.TransformerEncoder(
        nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), 2, enable_nested_tensor=False
    ),
    (2, 9, 32),
)
layer("unfold", lambda: nn.Unfold(3, padding=1, stride=2), (2, 3, 8, 9))
layer("fold", lambda: nn.Fold((8, 9), 3, padding=1), (2, 27, 72))
function("einsum", lambda x, y: torch.einsum("bhid,bhjd->bhij", x, y), (2, 3, 5, 8), (2, 3, 6, 8))
function("topk", lambda x: torch.topk(x, 3, dim=1), (4, 9))
function("sort", lambda x: torch.sort(x, dim=1, descending=True), (4, 9))
function("cumsum", lambda x: torch.cumsum(x, 1), (4, 9))
function("cumprod", lambda x: torch.cumprod(x, 1), (4, 9))
function("logsumexp", lambda x: torch.logsumexp(x, (1, 2)), (4, 5, 6))
function("var_mean", lambda x: torch.var_mean(x, dim=1), (4, 9))
function(
    "scaled_dot_product",
    lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
    (2, 4, 7, 16),
    (2, 4, 7, 16),
    (2, 4, 7, 16),
)
function(
    "stft",
    lambda x: torch.view_as_real(
        torch.stft(x, 32, 8, window=torch.hann_window(32), return_complex=True)
    ),
    (2, 200),
)
function("roll", lambda x: torch.roll(x, (2, 3), (1, 2)), (2, 5, 7))
function("pixel_shuffle", lambda x: F.pixel_shuffle(x, 2), (2, 12, 4, 5))
function("adaptive_pool", lambda x: F.adaptive_avg_pool2d(x, (3, 5)), (2, 3, 9, 10))
function("group_norm", lambda x: F.group_norm(x, 2), (2, 6, 5))
function("instance_norm", lambda x: F.instance_norm(x), (2, 6, 5, 4))
function("local_response_norm", lambda x: F.local_response_norm(x, 3), (2, 6, 5, 4))
function("reflect_pad", lambda x: F.pad(x, (2, 1, 1, 2), mode="reflect"), (2, 3, 5, 6))
function("circular_pad", lambda x: F.pad(x, (2, 1, 1, 2), mode="circular"), (2, 3, 5, 6))
function("unique-inverse", lambda x: torch.unique((x * 5).long(), return_inverse=True), (4, 9))
function("nonzero", lambda x: torch.nonzero(x > 0.5), (4, 9))
function("masked_select", lambda x: torch.masked_select(x, x > 0.5), (4, 9))
function("where", lambda x, y: torch.where(x > y, x, y * 2), (4, 9), (4, 1))
function("triu", lambda x: torch.triu(x, 1), (4, 9))
function("cross", lambda x, y: torch.linalg.cross(x, y), (4, 3), (4, 3))
function("cdist", lambda x, y: torch.cdist(x, y), (4, 3), (5, 3))
function("one_hot", lambda x: F.one_hot((x * 5).long(), 6), (4, 9))


def indexed(call: Callable[..., Any], *sizes: int) -> Callable[[], Inputs]:
    return lambda: {"x": torch.rand(*sizes), "i": torch.randint(0, sizes[0], (3,))}


for name, call in {
    "gather": lambda x, i: torch.gather(x, 0, i[:, None].expand(3, x.shape[1])),
    "scatter": lambda x, i: x.scatter(0, i[:, None], 1.0),
    "scatter_add": lambda x, i: x.scatter_add(0, i[:, None].expand(3, 4), x[:3, :4]),
    "index_put": lambda x, i: x.index_put((i,), x[0]),
    "index_put-accumulate": lambda x, i: x.index_put((i,), x[:3], accumulate=True),
    "index_select": lambda x, i: x.index_select(0, i),
    "embedding_bag": lambda x, i: F.embedding_bag(i[None], x),
}.items():
    EXPORTS[name] = Export(lambda call=call: Function(call), indexed(call, 6, 8))


# Of unknown sizes, by both exporters: the older one leaves the channels unknown, too.
def of_unknown_sizes(
    name: str, make: Callable[[], nn.Module], *shapes: tuple[int, ...], **more: Any
) -> None:
    sizes = {f"x{i}": {d: f"n{i}_{d}" for d in range(len(s))} for i, s in enumerate(shapes)}
    layer(name, make, *shapes, dynamic=sizes, **more)


for name, call, *shapes in (
    ("max_pool-indices", lambda x: F.max_pool2d(x, 3, 2, return_indices=True), (2, 3, 9, 11)),
    ("max_pool-ceil", lambda x: F.max_pool2d(x, 3, 2, 1, 2, ceil_mode=True), (2, 3, 12, 15)),
    ("quantile", lambda x: torch.quantile(x, 0.3, dim=1), (4, 9)),
    ("diagonals", lambda x: (torch.diagonal(x, 1), torch.trace(x), torch.tril(x)), (5, 6)),
):
    of_unknown_sizes(f"{name}-sizes", lambda call=call: Function(call), *shapes)
for dynamo in (True, False):
    kind = "sizes" if dynamo else "sizes-script"
    of_unknown_sizes(
        f"conv3d-{kind}",
        lambda: nn.Conv3d(4, 8, (1, 3, 2), padding=(0, 1, 1), groups=4),
        (1, 4, 5, 7, 8),
        dynamo=dynamo,
    )
    of_unknown_sizes(
        f"conv_transpose2d-{kind}",
        lambda: nn.ConvTranspose2d(4, 6, 3, 2, 1, 1, groups=2),
        (2, 4, 7, 9),
        dynamo=dynamo,
    )
EXPORTS["unique-rows"] = Export(
    lambda: Function(lambda x: torch.unique((x * 2).long(), dim=0)),
    image(9, 2),
    {"x": {0: "rows"}},
)
of_unknown_sizes(
    "stft-sizes",
    lambda: Function(
        lambda x: torch.view_as_real(
            torch.stft(x, 16, 4, window=torch.hann_window(16), return_complex=True)
        )
    ),
    (2, 100),
)


def export(name: str, path: Path) -> dict[str, np.ndarray]:
    """Write a model and return its inputs; the weights, as the inputs, are random with seed 0."""
    entry = EXPORTS[name]
    torch.manual_seed(0)
    model = entry.make().eval()
    inputs = entry.inputs()
    options: dict[str, Any] = {"opset_version": entry.opset, "dynamo": entry.dynamo}
    if entry.dynamo:
        if entry.dynamic:
            names = {dim for sizes in entry.dynamic.values() for dim in sizes.values()}
            dims = {name: torch.export.Dim(name) for name in names}
            shapes = tuple(
                {i: dims[dim] for i, dim in entry.dynamic.get(key, {}).items()} for key in inputs
            )
            # Those of a function are one argument, `args`.
            options["dynamic_shapes"] = (shapes,) if isinstance(model, Function) else shapes
    else:
        options["dynamic_axes"] = entry.dynamic or None
        options["input_names"] = [*inputs]
    args = {"kwargs": inputs} if entry.keywords else {"args": (*inputs.values(),)}
    with torch.no_grad():
        program = torch.onnx.export(
            model, f=None if entry.dynamo else str(path), **args, **options, verbose=False
        )
    if program is not None:
        program.save(str(path), external_data=False)
        names = [value.name for value in program.model.graph.inputs]
    else:
        names = [*inputs]
    return {key: value.numpy() for key, value in zip(names, inputs.values(), strict=True)}


if __name__ == "__main__":
    export_all({name: lambda path, name=name: export(name, path) for name in EXPORTS})
