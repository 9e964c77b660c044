"""Runs commands in this process, and notes all that it opens, imports, compiles, executes and starts.

As a program: python -m tests.support.watched REPORT.json < COMMANDS.json, in the commands' working folder.
COMMANDS.json is a list of lists of words, each what follows `roambus` in a command line. REPORT.json has for each its
exit code, what it printed, and its events.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

WATCHED = {
    *("import", "open", "compile", "exec", "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn"),
    *("pickle.find_class", "ctypes.dlopen", "os.startfile", "os.spawn", "marshal.load"),
}
Event = tuple[str, str]


class Watch:
    """Notes events from when it is made until the process ends; an audit hook cannot be taken away."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        sys.addaudithook(self._hook)

    def take(self) -> list[Event]:
        """The events since the last time, each once."""
        taken, self.events = self.events, []
        return list(dict.fromkeys(taken))

    def _hook(self, name: str, arguments: tuple[Any, ...]) -> None:
        if name in WATCHED:
            self.events.extend((name, text) for text in _texts(name, arguments))


def _texts(name: str, arguments: tuple[Any, ...]) -> Iterator[str]:
    """What was opened, imported or run, as far as it has a name."""
    match name:
        case "exec":
            yield _path(arguments[0].co_filename)
        case "compile":
            yield _path(arguments[1])
        case "import":
            if arguments[1]:  # the file of a module that is loaded from a file
                yield _path(arguments[1])
        case "open":
            flags = arguments[2] if len(arguments) > 2 and isinstance(arguments[2], int) else 0
            mode = "w" if flags & (os.O_WRONLY | os.O_RDWR) else "r"
            yield f"{mode} {_path(arguments[0])}"
        case _:
            yield " ".join(map(str, arguments))


def _path(name: object) -> str:
    """The whole path of a file; what is no path, such as <string> or a descriptor, as it is."""
    if isinstance(name, bytes):
        name = os.fsdecode(name)
    if not isinstance(name, str | os.PathLike):
        return repr(name)
    text = os.fspath(name)
    return text if str(text).startswith("<") else os.path.abspath(text)  # noqa: PTH100  # links stay as they are


def run(words: Sequence[str], watch: Watch) -> dict[str, Any]:
    """Runs one command line as the command does; its exit code, what it printed, and its events."""
    from roambus.command_line import main  # noqa: PLC0415  # what it imports is to be seen

    watch.take()
    printed = io.StringIO()
    code: object = 0
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            sys.argv = ["roambus", *words]
            main()
        except SystemExit as ended:
            code = ended.code or 0
    return {"command": list(words), "code": code, "printed": printed.getvalue(), "events": watch.take()}


def watch_all(report: Path, lines: Sequence[Sequence[str]]) -> None:
    """Runs all command lines, and writes the report."""
    watch = Watch()
    report.write_text(json.dumps([run(words, watch) for words in lines]), encoding="utf-8")


if __name__ == "__main__":
    watch_all(Path(sys.argv[1]), json.loads(sys.stdin.read()))
