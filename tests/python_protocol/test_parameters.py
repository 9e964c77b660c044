"""Parameters are read from text by the type and unit of their field."""

from dataclasses import dataclass

import pytest

from roambus.python_protocol.parameters import describe_parameters, parameter, parse_parameters
from roambus.python_protocol.simtime import SECOND, SimTime


@dataclass(frozen=True, slots=True)
class Parameters:
    interval: SimTime = parameter(SECOND, unit="s", source="RFC 3561 section 10", doc="how often")
    retries: int = parameter(2, doc="how many")
    sticky: bool = parameter(True)
    share: float = parameter(0.5)


def test_fills_what_is_given() -> None:
    """Each text is read by its field's type; the rest keeps its default."""
    texts = {"interval": "250ms", "retries": "5", "sticky": "off"}
    assert parse_parameters(Parameters, texts) == Parameters(SECOND // 4, 5, False, 0.5)


@pytest.mark.parametrize(
    ("texts", "why"),
    [
        ({"retrys": "5"}, "unknown parameter 'retrys': did you mean 'retries'"),
        ({"retries": "many"}, "parameter retries: invalid literal"),
        ({"interval": "soon"}, "parameter interval: 'soon' is not a time"),
        ({"sticky": "perhaps"}, "parameter sticky: 'perhaps' is neither true nor false"),
    ],
)
def test_names_the_mistake(texts: dict[str, str], why: str) -> None:
    """An unknown name or unreadable value is an error that names it."""
    with pytest.raises(ValueError, match=why):
        parse_parameters(Parameters, texts)


def test_describes_each_field() -> None:
    """Name, default as one would write it, source and meaning."""
    assert describe_parameters(Parameters)[0] == ("interval", "1s", "s", "RFC 3561 section 10", "how often")
    assert describe_parameters(Parameters)[2][1] == "true"
