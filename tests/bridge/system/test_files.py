"""Files of ours come into place whole, and replace nothing but files."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from roambus.bridge.runs.layout import read_asked, unlinked
from roambus.bridge.system.errors import UserError
from roambus.bridge.system.files import UnfinishedFile, read_text, remove_unfinished
from roambus.bridge.trace.parquet import read_footer
from roambus.spark.aggregation.aggregate import replace_file


def write(path: Path, how: str) -> None:
    if how == "replace":
        replace_file(path, lambda file: file.write_text("ours"))
        return
    with UnfinishedFile(path) as unfinished:
        unfinished.file.write(b"ours")
        unfinished.finish()


def make(path: Path, kind: str) -> None:
    match kind:
        case "folder":
            path.mkdir()
        case "FIFO":
            os.mkfifo(path)
        case "socket":
            with socket.socket(socket.AF_UNIX) as bound:
                bound.bind(str(path))
        case "device":
            path.symlink_to("/dev/full")


@pytest.mark.parametrize("how", ["replace", "unfinished"])
@pytest.mark.parametrize("kind", ["folder", "FIFO", "socket", "device"])
@pytest.mark.parametrize("linked", [False, True])
def test_only_files_are_replaced(tmp_path: Path, how: str, kind: str, linked: bool) -> None:
    """Whatever else has the name, or is what a link of that name leads to, is named and stays as it is."""
    other, path = tmp_path / "other", tmp_path / "target"
    make(other if linked else path, kind)
    if linked:
        path.symlink_to(other)
    before = path.stat().st_mode
    with pytest.raises(UserError, match=rf"target: this is a {kind}: give the name of a regular file"):
        write(path, how)
    assert path.stat().st_mode == before
    assert {file.name for file in tmp_path.iterdir()} == {"target", *(["other"] if linked else [])}


@pytest.mark.parametrize("how", ["replace", "unfinished"])
def test_a_strangers_link_under_the_hidden_name_is_not_followed(tmp_path: Path, how: str) -> None:
    """What it leads to keeps its content, and the file is written all the same."""
    private, path = tmp_path / "private", tmp_path / "target"
    private.write_text("mine")
    for hidden in (f".target.{os.getpid()}", ".target.unfinished"):
        (tmp_path / hidden).symlink_to(private)
    write(path, how)
    assert (private.read_text(), path.read_text()) == ("mine", "ours")


def test_a_strangers_link_in_place_of_a_folder_of_ours_is_refused(tmp_path: Path) -> None:
    """Also one that leads nowhere; a folder, or nothing, is fine."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "metrics").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "figures").symlink_to(tmp_path / "nowhere")
    for name in ("metrics", "figures"):
        with pytest.raises(UserError, match=rf"{name}: this is a link, which roambus does not follow"):
            unlinked(tmp_path / name)
    assert unlinked(tmp_path / "elsewhere").is_dir()
    assert not unlinked(tmp_path / "new").exists()


KILLED = """
import os, signal, sys
from pathlib import Path
from roambus.bridge.system.files import UnfinishedFile, read_text, remove_unfinished
from roambus.bridge.trace.parquet import read_footer
with UnfinishedFile(Path(sys.argv[1])) as unfinished:
    unfinished.file.write(b"half")
    unfinished.file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    """What a living one writes stays, and so does whatever has another name."""
    path = tmp_path / "sweep.json"
    subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    others = {tmp_path / name for name in (".sweep.json.old", ".other.json.99999999")}
    for other in others:
        other.touch()
    assert len(list(tmp_path.iterdir())) == 3
    with UnfinishedFile(path):
        remove_unfinished(path)
        assert len(list(tmp_path.iterdir())) == 3
    assert set(tmp_path.iterdir()) == others


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    """A FIFO would wait for a writer for ever; a link to a regular file is one."""
    os.mkfifo(tmp_path / "sweep.json")
    for read in (read_text, read_footer, lambda _: read_asked(tmp_path)):
        with pytest.raises((OSError, UserError), match="this is a FIFO and no regular file"):
            read(tmp_path / "sweep.json")
    (tmp_path / "plain").write_text("text")
    (tmp_path / "link").symlink_to(tmp_path / "plain")
    assert read_text(tmp_path / "link") == "text"
