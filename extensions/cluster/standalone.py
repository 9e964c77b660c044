"""Commands for the installed PySpark, with a Java that fits: the parts of a cluster.

python -m roambus.extensions.cluster.standalone master [--host ADDRESS]
python -m roambus.extensions.cluster.standalone worker spark://HOST:PORT [--cores N]

A part's process becomes Spark's own and ends by Ctrl-C or SIGTERM. Spark reads spark-defaults.conf in SPARK_CONF_DIR.
A taken port is an error: on Spark's next one workers would join the program at the first.
"""

from __future__ import annotations

import errno
import os
import socket
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import click

from roambus.bridge.system.errors import UserError
from roambus.spark.engine.java import (
    SAFE_PATH,
    find_java,
    write_java_home,
)
from roambus.spark.engine.session import SPARK_HOME, check_master, local_address

MASTER_STARTS_S = 60.0
"""How long a worker waits for its master."""

_LOGGING = Path(__file__).with_name("daemon-log4j2.properties")
_JAVA_OPTIONS = (
    f"-Dlog4j2.configurationFile={_LOGGING.as_uri()}",
    "-Dspark.master.rest.enabled=false",  # it would run whatever anybody sends, without asking for the secret
    "-Dspark.port.maxRetries=0",  # for a port that is taken after it was looked at
    "-XX:TieredStopAtLevel=1",
)

WORK = click.option(
    "--work",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("spark-work"),
    show_default=True,
    help="The folder for Spark's files: logs of executors, and the files that drivers send.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def commands() -> None:
    """A Spark standalone cluster: one master, and a worker on each machine."""


@commands.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The only address that it binds.")
@click.option("--port", type=click.IntRange(0, 65535), default=7077, show_default=True, help="Its port.")
@WORK
def master(host: str, port: int, work: Path) -> None:
    """Starts the master, and prints its URL, spark://HOST:PORT.

    Example: python -m roambus.extensions.cluster.standalone master
    """
    port = _free_port(host, port)
    click.echo(f"spark://{host}:{port}")
    options = ["--host", host, "--port", str(port), "--webui-port", "0"]
    _become("org.apache.spark.deploy.master.Master", options, host, work)


@commands.command()
@click.argument("url")
@click.option("--host", help="The address that it binds.  [default: the one from which it reaches the master]")
@click.option("--cores", type=click.IntRange(1), help="How many runs at once.  [default: cores]")
@click.option("--memory", help="For executors' Java, such as 2g; their Python comes on top.  [default: all but 1g]")
@WORK
def worker(url: str, host: str | None, cores: int | None, memory: str | None, work: Path) -> None:
    """Starts a worker of the master at URL.

    Example: python -m roambus.extensions.cluster.standalone worker spark://127.0.0.1:7077 --cores 2
    """
    check_master(url)
    address = host or _address_once_up(url)
    options = ["--host", address, "--webui-port", "0", "--work-dir", str((work / "executors").resolve())]
    options += ["--cores", str(cores)] if cores else []
    options += ["--memory", memory] if memory else []
    _become("org.apache.spark.deploy.worker.Worker", [*options, url], address, work)


def _free_port(host: str, port: int) -> int:
    try:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as tried:
            # As Java does it: a port whose last connections have just been closed is free.
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind((host, port))
            return int(tried.getsockname()[1])
    except OSError as error:
        remedy = "stop the program that listens there, such as an earlier one, or choose another --port"
        if error.errno != errno.EADDRINUSE:
            remedy = "choose an address of this machine as --host"
        raise UserError(f"no master can be started at {host}:{port}: {error.strerror}: {remedy}") from None


def _address_once_up(url: str) -> str:
    deadline = time.monotonic() + MASTER_STARTS_S
    while True:
        try:
            return local_address(url)
        except UserError:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.5)


def _become(main_class: str, options: Sequence[str], address: str, work: Path) -> NoReturn:
    homes = work.resolve() / "java"  # not beside the executors' folders: Spark removes what is old there
    homes.mkdir(parents=True, exist_ok=True)
    surroundings = {
        **os.environ,
        **SAFE_PATH,
        "JAVA_HOME": str(write_java_home(find_java(), Path(tempfile.mkdtemp(dir=homes)))),
        "SPARK_HOME": str(SPARK_HOME),
        "SPARK_LOCAL_IP": address,  # the page of its state binds it, too
        "SPARK_DAEMON_JAVA_OPTS": " ".join(_JAVA_OPTIONS),
    }
    program = str(SPARK_HOME / "bin" / "spark-class")
    sys.stdout.flush()
    os.execve(program, [program, main_class, *options], surroundings)  # noqa: S606  # Spark's own script, no shell


def main() -> None:
    """Run the command line; a user's mistake gets one message."""
    try:
        commands()
    except UserError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
