"""Device domains: unification, conflicts, and the attribute form."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ArrayAttr, FunctionType, ModuleOp, TensorType, UnitAttr, f32, i32
from xdsl.ir import Attribute

from passline.compiler.analysis.device_domains import (
    DevicePlace,
    FunctionDomain,
    Site,
    constrain,
    devices_of,
    domain_of_type,
    unify,
)
from passline.dialects.relax.device import DeviceAttr

T = TensorType(f32, [2])
CPU, CUDA = DeviceAttr("cpu"), DeviceAttr("cuda")
SITE = Site(ModuleOp([]), "is on")


def function() -> FunctionDomain:
    """Return the domain of a function from a tensor and a scalar to a tensor."""
    domain = domain_of_type(FunctionType.from_lists([T, i32], [T]))
    assert isinstance(domain, FunctionDomain)
    return domain


def test_unified_places_share_what_is_learned_later():
    places = [DevicePlace() for _ in range(4)]
    for place in places[1:]:
        assert unify(place, places[0]) is None
    assert constrain(places[3], CUDA, SITE)
    assert [place.device for place in places] == [CUDA] * 4
    assert places[0].kind.site is SITE


def test_a_conflict_is_the_pair_of_places():
    here, there = DevicePlace(), DevicePlace()
    constrain(here, CPU, SITE)
    constrain(there, CUDA, SITE)
    assert unify(here, there) == (here, there)


def test_a_function_in_one_place_has_all_its_values_there():
    domain, place = function(), DevicePlace()
    assert unify(place, domain) is None
    constrain(place, CUDA, SITE)
    assert devices_of(domain) == ArrayAttr([ArrayAttr([CUDA, UnitAttr()]), ArrayAttr([CUDA])])


def test_the_attribute_of_a_function_is_read_back():
    devices = ArrayAttr([ArrayAttr([CPU, UnitAttr()]), ArrayAttr([CUDA])])
    assert constrain(domain := function(), devices, SITE)
    assert devices_of(domain) == devices


@pytest.mark.parametrize(
    "malformed",
    [UnitAttr(), ArrayAttr[Attribute]([]), ArrayAttr([ArrayAttr([CPU]), ArrayAttr([CUDA])])],
    ids=str,
)
def test_an_attribute_of_another_form_constrains_nothing(malformed: Attribute):
    assert not constrain(function(), malformed, SITE)
