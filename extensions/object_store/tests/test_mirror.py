"""Results on a server that speaks S3: whole at any moment, and the same from every machine."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from pyarrow.fs import FileSelector, FileType, S3FileSystem

from roambus.bridge.runs.layout import TRACE_FILE
from roambus.bridge.system.errors import UserError
from roambus.experiments.sweeps.stores import open_store
from roambus.extensions.object_store import mirror as mirrors
from roambus.extensions.object_store.mirror import Address, Mirror, StorageError
from roambus.extensions.object_store.tests.stores import BUCKET, s3_server
from tests.support.commands import call

RUN = Path("traces", "agent=mft", "seed=0")
_numbers = count()


@pytest.fixture(scope="module")
def store() -> Iterator[S3FileSystem]:
    """The bucket of these tests, each of which has a folder of its own in it."""
    with pytest.MonkeyPatch.context() as patch, s3_server(patch) as files:
        yield files


@pytest.fixture
def url(store: S3FileSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An address at which there is nothing yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "one"))
    return f"s3://{BUCKET}/folder/{next(_numbers)}"


def elsewhere(url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Mirror:
    """The mirror on another machine, with what it fetches."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    mirror = Mirror(Address.read(url))
    mirror.fetch()
    return mirror


def names_at(store: S3FileSystem, url: str) -> set[str]:
    path = url.removeprefix("s3://")
    found = store.get_file_info(FileSelector(path, recursive=True, allow_not_found=True))
    return {info.path.removeprefix(f"{path}/") for info in found if info.type == FileType.File}


def write(mirror: Mirror, **contents: str) -> None:
    """Files of one run in the mirror; an underscore in a name stands for a dot."""
    mirror.fetch()
    (mirror.folder / RUN).mkdir(parents=True, exist_ok=True)
    for name, text in contents.items():
        (mirror.folder / RUN / name.replace("_", ".")).write_text(text)


def test_what_is_published_is_fetched_elsewhere(
    store: S3FileSystem, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once: what is the same on both sides is neither fetched nor published again. Hidden files stay here."""
    mirror = Mirror(Address.read(url))
    write(mirror, trace_parquet="rows", run_ini="ini")
    (mirror.folder / ".unfinished-1").mkdir()
    (mirror.folder / ".unfinished-1" / "x").touch()
    assert (mirror.publish(), mirror.publish(), mirror.fetch()) == (2, 0, 0)
    assert names_at(store, url) == {f"{RUN}/trace.parquet", f"{RUN}/run.ini"}
    other = elsewhere(url, monkeypatch, tmp_path)
    assert other.folder != mirror.folder
    assert (other.folder / RUN / TRACE_FILE).read_text() == "rows"
    assert (other.fetch(), other.publish()) == (0, 0)


def test_a_run_is_complete_at_the_address_or_not_there(
    store: S3FileSystem, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection that breaks leaves no trace, neither of a new run nor of one that is made again."""
    mirror = Mirror(Address.read(url))
    write(mirror, trace_parquet="old", run_ini="old")
    mirror.publish()
    write(mirror, trace_parquet="newer", run_ini="newer")

    def broken(address: Address, name: object, file: Path) -> object:
        raise StorageError("the connection is broken")

    with monkeypatch.context() as patch:
        patch.setattr(mirrors, "put", broken)
        with pytest.raises(StorageError):
            mirror.publish()
    assert names_at(store, url) == {f"{RUN}/run.ini"}
    assert mirror.publish() == 2
    assert names_at(store, url) == {f"{RUN}/run.ini", f"{RUN}/trace.parquet"}


def test_what_a_failed_attempt_left_goes_with_it(store: S3FileSystem, url: str) -> None:
    """When the run is published again."""
    mirror = Mirror(Address.read(url))
    write(mirror, failed="key", run_log="error")
    mirror.publish(mirror.folder / RUN)
    write(mirror, trace_parquet="rows")
    (mirror.folder / RUN / "failed").unlink()
    mirror.publish(mirror.folder / RUN)
    assert names_at(store, url) == {f"{RUN}/run.log", f"{RUN}/trace.parquet"}


@pytest.mark.slow
def test_a_sweep_goes_on_on_another_machine(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It finds the runs that are complete, and makes those that are not."""
    sweep = f"roambus sweep beacon --workers 1 --set nodes=10 --set time_limit=2 --backend ideal --out {url}"
    assert call(f"{sweep} --seeds 1", monkeypatch) == 0
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    assert call(f"{sweep} --seeds 2", monkeypatch) == 0
    assert "runs done 1, already there 1, failed 0" in capsys.readouterr().out


def test_a_name_that_leads_out_of_the_mirror_is_left_where_it_is(
    store: S3FileSystem, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever filled the bucket chose the names."""
    for name in ("../escaped", "a/../../escaped", ".hidden", "fine"):
        with store.open_output_stream(f"{url.removeprefix('s3://')}/{name}") as stream:
            stream.write(b"x")
    mirror = elsewhere(url, monkeypatch, tmp_path)
    assert [path.name for path in mirror.folder.parent.rglob("*") if path.is_file()] == ["fine"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("ftp://host/results", "s3://"),
        ("s3://bucket", "name a bucket and a folder"),
        ("s3://key:secret@bucket/results", "leave credentials out"),
    ],
)
def test_an_address_of_no_use_is_named_with_what_to_write(text: str, problem: str) -> None:
    """Before anything is fetched; a folder is not an address."""
    with pytest.raises(UserError, match=problem):
        open_store(text)
    assert open_store("results/s3") is None


def test_a_bucket_that_is_not_there_is_reported(store: S3FileSystem, url: str) -> None:
    """In one line, which names the address."""
    mirror = Mirror(Address.read("s3://no-such-bucket/x"))
    write(mirror, run_ini="ini")
    with pytest.raises(StorageError, match=r"s3://no-such-bucket/x: .*bucket"):
        mirror.publish()
