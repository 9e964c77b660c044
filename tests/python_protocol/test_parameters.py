"""Parameters are read from text by the type and unit of their field."""

import pytest

from roambus.python_protocol.parameters import Parameters, describe_parameters, parameter, parse_parameters
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
        ({"retries": "many"}, "parameter retries: invalid literal"),
        ({"interval": "soon"}, "parameter interval: 'soon' is not a time"),
        ({"sticky": "perhaps"}, "parameter sticky: 'perhaps' is neither true nor false"),
        ({"interval": "-1s"}, "parameter interval: -1s is not greater than 0s"),
        ({"interval": "0"}, "parameter interval: 0s is not greater than 0s"),
        ({"retries": "-1"}, "parameter retries: -1 is not at least 0"),
        ({"retries": "11"}, "parameter retries: 11 is not at most 10"),
        ({"share": "nan"}, "parameter share: nan is not a number"),
        ({"mode": "quick"}, "parameter mode: quick is none of fast, slow"),
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
