"""Says how much memory this process has used."""

from __future__ import annotations

import resource


def peak_memory_mib() -> int:
    """The most memory that this process has used so far, in earlier runs or in this one."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
