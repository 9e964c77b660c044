"""Relations among filters: which covers which, and which may have a notification in common.

Each pair of constraints on one attribute is compared by itself, and nothing follows from several constraints together.
Both answers err on the safe side: a filter that is not known to cover another is forwarded needlessly, and one that is
not known to be disjoint from another is asked needlessly.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

from roambus.python_protocol.filters import Constraint, Filter, Operator, Value

_Compare = Callable[[Any, Any], bool]

_UPPER = {Operator.LESS, Operator.LESS_OR_EQUAL}
_LOWER = {Operator.GREATER, Operator.GREATER_OR_EQUAL}
_STRICT = {Operator.LESS, Operator.GREATER}

_IMPLIED: dict[tuple[Operator, Operator], _Compare] = {
    (Operator.NOT_EQUAL, Operator.NOT_EQUAL): operator.eq,
    (Operator.LESS, Operator.NOT_EQUAL): operator.le,
    (Operator.LESS_OR_EQUAL, Operator.NOT_EQUAL): operator.lt,
    (Operator.GREATER, Operator.NOT_EQUAL): operator.ge,
    (Operator.GREATER_OR_EQUAL, Operator.NOT_EQUAL): operator.gt,
    (Operator.LESS, Operator.LESS): operator.le,
    (Operator.LESS_OR_EQUAL, Operator.LESS): operator.lt,
    (Operator.LESS, Operator.LESS_OR_EQUAL): operator.le,
    (Operator.LESS_OR_EQUAL, Operator.LESS_OR_EQUAL): operator.le,
    (Operator.GREATER, Operator.GREATER): operator.ge,
    (Operator.GREATER_OR_EQUAL, Operator.GREATER): operator.gt,
    (Operator.GREATER, Operator.GREATER_OR_EQUAL): operator.ge,
    (Operator.GREATER_OR_EQUAL, Operator.GREATER_OR_EQUAL): operator.ge,
}
"""A constraint of the first kind implies one of the second if its operand compares so with the other's."""


def covers(wide: Filter, narrow: Filter) -> bool:
    """Whether `wide` surely matches whatever `narrow` matches, the coverage of the paper on caching, section 3.1."""
    return all(any(_implies(known, asked) for known in narrow.constraints) for asked in wide.constraints)


def overlap(one: Filter, other: Filter) -> bool:
    """Whether there may be a notification that both match; it is False only if there surely is none."""
    return not any(_exclude(a, b) for a in one.constraints for b in other.constraints)


def widest(filters: Iterable[Filter]) -> list[Filter]:
    """The filters that no other one covers; of several that cover each other it is the first."""
    found: list[Filter] = []
    for candidate in filters:
        if not any(covers(one, candidate) for one in found):
            found = [one for one in found if not covers(candidate, one)]
            found.append(candidate)
    return found


def _implies(known: Constraint, asked: Constraint) -> bool:
    if known.attribute != asked.attribute:
        return False
    if asked.operator is Operator.EXISTS:
        return True
    if not _are_alike(known.operand, asked.operand):
        return False
    return _implies_alike(known, asked)


def _implies_alike(known: Constraint, asked: Constraint) -> bool:
    """Whether one constraint implies another whose operand is a text, or a number, as its own."""
    if Operator.PREFIX in (known.operator, asked.operator) and not isinstance(known.operand, str):
        return False
    if known.operator is Operator.EQUAL:
        return asked.matches({asked.attribute: known.operand})
    if known.operator is Operator.PREFIX:
        return _prefix_implies(str(known.operand), asked)
    compare = _IMPLIED.get((known.operator, asked.operator))
    return compare is not None and compare(known.operand, asked.operand)


def _prefix_implies(prefix: str, asked: Constraint) -> bool:
    if asked.operator is Operator.PREFIX:
        return prefix.startswith(str(asked.operand))
    return asked.operator is Operator.NOT_EQUAL and not str(asked.operand).startswith(prefix)


def _exclude(a: Constraint, b: Constraint) -> bool:
    """Whether no value of an attribute satisfies both."""
    if a.attribute != b.attribute or Operator.EXISTS in (a.operator, b.operator):
        return False
    if not _are_alike(a.operand, b.operand):
        return Operator.NOT_EQUAL not in (a.operator, b.operator)
    if Operator.PREFIX in (a.operator, b.operator) and not isinstance(a.operand, str):
        return False
    for one, other in ((a, b), (b, a)):
        if one.operator is Operator.EQUAL:
            return not other.matches({other.attribute: one.operand})
    return _ranges_exclude(a, b) or _ranges_exclude(b, a) or _prefixes_exclude(a, b)


def _ranges_exclude(low: Constraint, high: Constraint) -> bool:
    if low.operator not in _LOWER or high.operator not in _UPPER:
        return False
    is_strict = low.operator in _STRICT or high.operator in _STRICT
    compare: _Compare = operator.ge if is_strict else operator.gt
    return compare(low.operand, high.operand)


def _prefixes_exclude(a: Constraint, b: Constraint) -> bool:
    if a.operator is not Operator.PREFIX or b.operator is not Operator.PREFIX:
        return False
    one, other = str(a.operand), str(b.operand)
    return not (one.startswith(other) or other.startswith(one))


def _are_alike(one: Value, other: Value) -> bool:
    """Whether both are texts, or both numbers; values of different kinds do not compare."""
    return isinstance(one, str) == isinstance(other, str)
