"""From the wheel alone: the modules for Castalia are built by one command, and runs find them."""

from __future__ import annotations

from pathlib import Path

import pytest

from roambus.bridge.backends.castalia.installation import OMNET_ROOT
from tests.support import omnet
from tests.support.distributions import build_here, install
from tests.support.places import Place

pytestmark = [pytest.mark.castalia, pytest.mark.slow]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A place in which the wheel is installed; skips where the modules cannot be built."""
    omnet.castalia()
    folder = tmp_path_factory.mktemp("place")
    return install(build_here(folder / "dist").wheel, folder)


def test_a_run_on_castalia_needs_the_wheel_and_one_command(place: Place, tmp_path: Path) -> None:
    """What is built lies in the user's cache, and nothing is written to the folder of installed packages."""
    cache = f"env -u {OMNET_ROOT} XDG_CACHE_HOME={tmp_path}"
    run = "roambus run thesis --agent mft --backend castalia --set time_limit=6 --set publish_until=4"
    refused = place.run(f"{cache} {run}")
    assert refused.returncode == 2
    assert refused.stderr.endswith("libroambus.so is not there: build it with roambus doctor --build castalia\n")
    library = Path(place.succeed(f"{cache} roambus doctor --build castalia").splitlines()[-1])
    assert library.is_relative_to(tmp_path / "roambus" / "castalia")
    assert (place.folder / place.succeed(f"{cache} {run}").strip() / "trace.parquet").is_file()
    assert [*place.python.parents[1].rglob("*.o")] == []
