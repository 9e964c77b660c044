"""Parameters are read from text by the type and unit of their field."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import pytest

from roambus.python_protocol.settings import (
    WHOLE,
    Parameters,
    Setting,
    describe_parameters,
    near,
    parameter,
    parse_parameters,
    unknown,
)
from roambus.python_protocol.simtime import SECOND, SimTime


class Example(Parameters):
    """A parameter of each type."""

    interval: SimTime = parameter(SECOND, unit="s", source="RFC 3561 section 10", doc="how often", above=0)
    retries: int = parameter(2, doc="how many", at_least=0, at_most=10)
    sticky: bool = parameter(True)
    share: float = parameter(0.5, at_least=0, at_most=1)
    mode: str = parameter("fast", choices=("fast", "slow"))


def test_fills_what_is_given() -> None:
    """Each text is read by its field's type; the rest keeps its default."""
    texts = {"interval": "250ms", "retries": "5", "sticky": "off"}
    assert parse_parameters(Example, texts) == Example(SECOND // 4, 5, False, 0.5)


@pytest.mark.parametrize(
    ("texts", "why"),
    [
        ({"retrys": "5"}, "unknown parameter 'retrys': did you mean 'retries'"),
        ({"retries": "many"}, "parameter retries: many is not a whole number"),
        ({"interval": "soon"}, "parameter interval: 'soon' is not a time"),
        ({"sticky": "perhaps"}, "parameter sticky: 'perhaps' is neither true nor false"),
        ({"interval": "-1s"}, "parameter interval: -1s is out of range: it must be above 0s"),
        ({"interval": "0"}, "parameter interval: 0 is out of range: it must be above 0s"),
        ({"retries": "-1"}, "parameter retries: -1 is out of range: it must be from 0 to 10"),
        ({"retries": "11"}, "parameter retries: 11 is out of range: it must be from 0 to 10"),
        ({"share": "nan"}, "parameter share: nan is not a number"),
        ({"mode": "quick"}, "parameter mode: quick is not known here: it must be fast or slow"),
    ],
)
def test_names_the_mistake(texts: dict[str, str], why: str) -> None:
    """An unknown name, or a value that is unreadable or out of bounds, is an error that names it."""
    with pytest.raises(ValueError, match=why):
        parse_parameters(Example, texts)


def test_describes_each_field() -> None:
    """Name, default as one would write it, source and meaning."""
    assert describe_parameters(Example)[0] == ("interval", "1s", "s", "RFC 3561 section 10", "how often")
    assert describe_parameters(Example)[2][1] == "true"


class Listed(Example):
    """With profiles that are lists of values."""

    profiles: ClassVar[Mapping[str, Mapping[str, Any]]] = {"bold": {"retries": 9}, "shy": {"sticky": False}}
    profile: str = parameter("shy", choices=("bold", "shy"))


def test_a_profile_stands_for_values_of_other_parameters() -> None:
    """Also the one that is the default; what is set itself counts more."""
    assert (Listed().sticky, Listed().retries) == (False, 2)
    assert parse_parameters(Listed, {"profile": "bold"}) == Listed(profile="bold", retries=9, sticky=True)
    assert Listed(profile="bold", retries=1).retries == 1


class Profiled(Example):
    """With a mode that implies values for others."""

    @classmethod
    def implied(cls, given: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"retries": 7, "share": given.get("share", 0.25) / 2} if given.get("mode") == "slow" else {}


def test_what_a_parameter_implies_counts_unless_it_is_set_itself() -> None:
    """However the parameters are made: from texts, by name, or as a copy with another value."""
    assert parse_parameters(Profiled, {"mode": "slow"}) == Profiled(mode="slow")
    assert (Profiled(mode="slow").retries, Profiled(mode="slow").share, Profiled().retries) == (7, 0.125, 2)
    assert (Profiled(mode="slow", retries=1).retries, Profiled(mode="slow", share=0.5).share) == (1, 0.5)
    assert replace(Profiled(mode="slow"), sticky=False).retries == 7


def test_what_is_given_is_checked_before_it_implies_anything() -> None:
    """The message names what was given, not what would follow from it."""
    with pytest.raises(ValueError, match="parameter share: 3 is out of range: it must be from 0 to 1"):
        Profiled(mode="slow", share=3)


def test_of_many_names_only_the_near_ones_are_suggested() -> None:
    """Those that are spelled alike, or contain what was asked for; where none is near, and of few names, all."""
    many = {f"metric_{letter}": 0 for letter in "abcdefghijklmno"} | {"end_to_end_delay_mean_s": 0}
    assert unknown("metric", "delay", many) == (
        "unknown metric 'delay': did you mean 'end_to_end_delay_mean_s'? there is end_to_end_delay_mean_s and 15 others"
    )
    assert unknown("metric", "dela", many).startswith("unknown metric 'dela': did you mean 'end_to_end_delay_mean_s'?")
    assert unknown("metric", "zzz", many).count(", ") == len(many) - 1
    lots = {f"a{number:02}": 0 for number in range(48)}
    assert unknown("parameter", "zzz", lots, "roambus show mft").endswith("a18, a19 and 28 others (roambus show mft)")
    assert unknown("axis", "sped", {"speed": 0, "config": 0}) == (
        "unknown axis 'sped': did you mean 'speed'? there is config, speed"
    )


def test_names_are_suggested_by_spelling_or_by_meaning() -> None:
    """A word of a setting's meaning counts, first of all its first one; other digits are no misspelling."""
    assert near("nodes", ["roles", "node"]) == ["node"]
    assert (near("C64", ["C4", "C16"]), near("C4", ["C4"]), near("15.4", ["802.15.4"])) == ([], ["C4"], ["802.15.4"])
    meanings = {"brokers": "Nodes that are brokers.", "roles": "Roles of nodes.", "side": "Side of the field."}
    known = {name: Setting(name, WHOLE, None, meaning) for name, meaning in meanings.items()}
    many = {**dict.fromkeys(map(str, range(12))), "still": Setting("still", WHOLE, None, "The nodes' share."), **known}
    assert unknown("variable", "nodes", many) == (
        "unknown variable 'nodes': there is brokers, roles, still and 13 others"
    )


def test_a_parameter_without_a_type_is_named_with_one() -> None:
    """By its default, or its unit."""
    with pytest.raises(TypeError, match=r"retries has no type: write retries: int = parameter\("):
        type("Untyped", (Parameters,), {"retries": parameter(2)})
    with pytest.raises(TypeError, match=r"pause has no type: write pause: SimTime = parameter\("):
        type("Untyped", (Example,), {"pause": parameter(SECOND, unit="s")})
