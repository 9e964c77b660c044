"""What results were made with: the libraries of this Python that roambus needs, as pip and as people read them."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, distribution

from packaging.requirements import Requirement

DISTRIBUTION = "roambus"


def requirements() -> dict[str, str]:
    """The versions of all packages that roambus needs and that are installed here, by name."""
    found: dict[str, str] = {}
    waiting = [DISTRIBUTION]
    while waiting:
        for requirement in map(Requirement, _needs(waiting.pop())):
            if requirement.name not in found and _applies(requirement):
                try:
                    found[requirement.name] = distribution(requirement.name).version
                except PackageNotFoundError:
                    continue
                waiting.append(requirement.name)
    return dict(sorted(found.items()))


def requirements_file() -> str:
    """The same as a file for pip, with the version of Python in its head."""
    lines = [f"{name}=={version}\n" for name, version in requirements().items()]
    return f"# Python {platform.python_version()}\n{''.join(lines)}"


def _needs(name: str) -> list[str]:
    return distribution(name).requires or []


def _applies(requirement: Requirement) -> bool:
    """Whether it is needed here, without any extra."""
    return requirement.marker is None or requirement.marker.evaluate({"extra": ""})
