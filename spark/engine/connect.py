"""Sessions of Spark Connect, whose Spark runs in a server of its own, at an address such as sc://127.0.0.1:15002.

Only DataFrames reach such a server, which is all that metrics need. Neither Java nor a driver is started here. The
server must reach the traces by the same path, and must be of the Spark that roambus is installed with. Spark keeps in a
process which of the two kinds of sessions it has, so that a process has one kind only.
"""

from __future__ import annotations

import os
import re
import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pyspark
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from roambus.bridge.errors import RoambusError, UserError

CONNECT = "sc://"
EXTRA = "roambus[connect]"
ANSWER_S = 5.0
"""How long a server may take to answer."""

_SERVERS = re.compile(r"sc://([^/\s:;]+):(\d{1,5})")
_SHUFFLE_PARTITIONS = "spark.sql.shuffle.partitions"


def is_connect(url: str) -> bool:
    """Whether the URL is that of a Spark Connect server."""
    return url.startswith(CONNECT)


@contextmanager
def connect_session(url: str, shuffle_partitions: int) -> Iterator[SparkSession]:
    """A session on the server, released in the end.

    Raises UserError if no server answers or this Python lacks what speaks with it, RoambusError if the server fails,
    whatever the block raises.
    """
    _check(url)
    try:
        with warnings.catch_warnings(action="ignore"):
            session = SparkSession.Builder().remote(url).getOrCreate()
            version = session.version
    except ImportError as error:
        raise UserError(f"{url}: {_reason(error)}: install {EXTRA}") from None
    except (PySparkException, OSError) as error:
        raise UserError(f"{url}: somebody answers there, but no Spark Connect server: {_reason(error)}") from None
    try:
        if version != pyspark.__version__:
            raise UserError(f"{url}: that is Spark {version}, and this is {pyspark.__version__}: both must be the same")
        session.conf.set(_SHUFFLE_PARTITIONS, shuffle_partitions)
        yield session
    except _lost() as error:
        raise RoambusError(f"{url}: Spark is gone: {_reason(error)}") from error
    finally:
        with suppress(Exception):  # the server may have ended
            session.stop()


def is_remote(session: SparkSession) -> bool:
    """Whether the session is on a Spark Connect server."""
    return "connect" in type(session).__module__


def cores_of(session: SparkSession) -> int:
    """How many tasks run at once; of a server it is not told, and this machine's number stands for it."""
    return (os.cpu_count() or 1) if is_remote(session) else session.sparkContext.defaultParallelism


def _check(url: str) -> None:
    found = _SERVERS.fullmatch(url)
    if found is None:
        raise UserError(f"{url}: this is no Spark Connect server: write sc://HOST:PORT")
    try:
        socket.create_connection((found[1], int(found[2])), ANSWER_S).close()
    except (OSError, OverflowError) as error:
        raise UserError(f"no Spark Connect server answers at {url}: {error}: start one, or correct the URL") from None


def _lost() -> tuple[type[Exception], ...]:
    """What is raised if the server ends meanwhile."""
    with suppress(ImportError):
        from grpc import RpcError  # noqa: PLC0415  # of the extra

        return (RpcError,)
    return ()


def _reason(error: BaseException) -> str:
    return " ".join(str(error).partition("\n")[0].split()) or type(error).__name__
