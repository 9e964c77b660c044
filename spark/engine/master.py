"""Checks where the master of a Spark cluster is: that its URL is one, and that somebody answers there."""

from __future__ import annotations

import re
import socket

from roambus.bridge.errors import UserError

CLUSTER = "spark://"
ANSWER_S = 5.0
"""How long a master may take to answer."""

_MASTERS = re.compile(r"spark://[^/\s,]+:\d+(,[^/\s,]+:\d+)*")


def check_master(url: str) -> None:
    """Raises UserError for what is neither Spark on this machine nor the URL of a standalone cluster's master."""
    if url.startswith("sc://"):
        raise UserError(f"{url}: a Spark Connect server computes metrics, and makes no runs: write spark://HOST:PORT")
    if not (re.fullmatch(r"local(\[(\d+|\*)\])?", url) or _MASTERS.fullmatch(url)):
        raise UserError(f"{url}: this is no Spark master: write spark://HOST:PORT")


def is_cluster(url: str) -> bool:
    """Whether the URL's executors are other processes than the driver."""
    return url.startswith(CLUSTER)


def local_address(url: str) -> str:
    """The address of this machine from which the cluster's master is reached, the only one that Spark has to bind.

    Raises UserError if no master answers (of several, spark://A:7077,B:7077, one is enough).
    """
    problems = []
    for place in url.removeprefix(CLUSTER).split(","):
        host, _, port = place.rpartition(":")
        try:
            with socket.create_connection((host, int(port)), ANSWER_S) as connection:
                return str(connection.getsockname()[0])
        except (OSError, OverflowError) as error:
            problems.append(f"{place}: {error}")
    raise UserError(f"no Spark master answers at {'; '.join(problems)}: start one, or correct the URL {url}")
