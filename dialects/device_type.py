"""The types of devices, as the config option `relax.fallback_device_type` names them."""

from __future__ import annotations

from enum import Enum

__all__ = ["DeviceType"]


class DeviceType(Enum):
    """A type of device, with its number in DLPack and TVM."""

    cpu = 1
    cuda = 2
    cuda_host = 3
    opencl = 4
    vulkan = 7
    metal = 8
    vpi = 9
    rocm = 10
    rocm_host = 11
    ext_dev = 12
    cuda_managed = 13
    oneapi = 14
    webgpu = 15
    hexagon = 16
    maia = 17
