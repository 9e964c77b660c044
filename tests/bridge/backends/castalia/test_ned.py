"""NED files say which keys an ini can have, and of which type; here they are the test's own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from roambus.bridge.backends.castalia.ned import NedTypes, read_types
from roambus.bridge.formats.ini.lookup import WrongKeyError

NETWORK = """
package a;
import b;

// network SN { parameters: int commentedOut; }
network SN {
 parameters:
    int count;                       // how many
    string kind = default ("Slow");
    string says = default ("a; b { c } // no comment");
 submodules:
    part[count]: b.Part {
      gates:
        out[count];
    }
    chosen: <kind> like b.iThing;
 connections:
    for i = 0..count - 1 { part[i].out --> chosen.in[i]; }
}
"""
PARTS = """
package b;

simple Part {
    volatile double wait @unit(s) = default (1s);
    bool on = default(true);
 gates:
    output out[];
}

moduleinterface iThing {
 parameters:
    int size;
}

simple Slow like b.iThing {
 parameters:
    int size = default (5);
    double speed = default (0.5);
}

simple Slower extends b.Slow {
 parameters:
    speed = default (0.25);
    string why;
    @class(Slower);
}
"""


@pytest.fixture
def types(tmp_path: Path) -> NedTypes:
    """The types of both files."""
    (tmp_path / "network.ned").write_text(NETWORK)
    (tmp_path / "parts.ned").write_text(PARTS)
    return read_types(tmp_path)


def defaults(types: NedTypes, ini: Mapping[str, str]) -> dict[str, str | None]:
    """Every key with its default."""
    return {path: parameter.default for path, parameter in types.declared(ini.get).items()}


def test_a_network_is_built_from_its_types_as_the_ini_says(types: NedTypes) -> None:
    """Vectors have as many parts as a parameter says; a chosen type brings its own keys; comments declare nothing."""
    assert defaults(types, {"SN.count": "2"}) == {
        "SN.count": None,
        "SN.kind": '"Slow"',
        "SN.says": '"a; b { c } // no comment"',
        "SN.part[0].wait": "1s",
        "SN.part[0].on": "true",
        "SN.part[1].wait": "1s",
        "SN.part[1].on": "true",
        "SN.chosen.size": "5",
        "SN.chosen.speed": "0.5",
    }


def test_a_type_has_what_it_extends(types: NedTypes) -> None:
    """It is like what that is like, and may change a default."""
    found = defaults(types, {"SN.count": "0", "SN.kind": '"Slower"'})
    assert {path: default for path, default in found.items() if "chosen" in path} == {
        "SN.chosen.size": "5",
        "SN.chosen.speed": "0.25",
        "SN.chosen.why": None,
    }


@pytest.mark.parametrize(
    ("ini", "path", "problem"),
    [
        ({"SN.count": "1", "SN.kind": '"Part"'}, "SN.kind", "there is no iThing Part: there are Slow, Slower"),
        (
            {"SN.count": "1", "SN.kind": '"802.15.4"'},
            "SN.kind",
            r"the MAC 802.15.4 is the embedded radio's alone \(--backend radio\): Castalia has Slow, Slower",
        ),
        ({"SN.count": "1", "SN.kind": "Slow"}, "SN.kind", "Slow is not a string in double quotes"),
        ({"SN.count": "many"}, "SN.count", "many is not a whole number"),
        ({"SN.count": "100000000"}, "SN.count", "100000000 is not a whole number up to"),
    ],
)
def test_a_choice_that_there_is_not_is_an_error_of_its_key(
    types: NedTypes, ini: Mapping[str, str], path: str, problem: str
) -> None:
    """It names the types that there are."""
    with pytest.raises(WrongKeyError, match=problem) as caught:
        types.declared(ini.get)
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("key", "text", "problem"),
    [
        ("SN.count", "2", ""),
        ("SN.count", "2.5", "2.5 is not a whole number, as SN.ned declares it"),
        ("SN.count", "intuniform(1, 5)", ""),
        ("SN.part[0].wait", "20ms", ""),
        ("SN.part[0].wait", "20", r"20 is not a number with its unit \(s\), as Part.ned"),
        ("SN.part[0].on", "yes", "yes is neither true nor false"),
        ("SN.chosen.speed", "1e-3", ""),
        ("SN.chosen.speed", "1ms", "1ms is not a number without a unit, as Slow.ned"),
        ("SN.kind", "Slow", "Slow is not a string in double quotes"),
    ],
)
def test_a_value_is_of_the_type_that_the_file_declares(types: NedTypes, key: str, text: str, problem: str) -> None:
    """With a unit if the file has one; what OMNeT++ computes is left to it."""
    parameter = types.declared({"SN.count": "1"}.get)[key]
    if not problem:
        parameter.check(text)
    else:
        with pytest.raises(ValueError, match=problem):
            parameter.check(text)
