"""A server on loopback that speaks S3, as tests put results there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.request import Request, urlopen

import pytest
from pyarrow.fs import S3FileSystem

BUCKET = "results"
WARM_UP_S = 120


@contextmanager
def s3_server(patch: pytest.MonkeyPatch) -> Iterator[S3FileSystem]:
    """An empty bucket on moto's server, which the environment names; skips where moto is not installed."""
    server = pytest.importorskip("moto.server", reason="moto, which speaks S3, is not installed (see the group dev)")
    started = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    started.start()
    try:
        host, port = started.get_host_and_port()
        for name, value in {
            "AWS_ENDPOINT_URL": f"http://{host}:{port}",
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }.items():
            patch.setenv(name, value)
        put = Request(f"http://{host}:{port}/{BUCKET}", method="PUT")  # moto takes seconds before its first answer
        urlopen(put, timeout=WARM_UP_S).close()  # noqa: S310  # of the server that was just started
        files = S3FileSystem(endpoint_override=f"http://{host}:{port}")
        yield files
    finally:
        started.stop()
