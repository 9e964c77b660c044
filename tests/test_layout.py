"""The tests mirror the source."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
PARTS = ("python_protocol", "bridge", "omnet", "spark", "experiments", "roambus", "benchmarks", "docs")
OF_THE_WHOLE = {"integration", "scenarios", "support"}


def test_every_folder_of_tests_is_a_folder_or_a_module_of_the_source() -> None:
    """A protocol that is one module may have several files of tests, which then lie in a folder of its name."""
    folders = {path.parent.relative_to(ROOT / "tests") for path in (ROOT / "tests").rglob("test_*.py")}
    mirrored = {folder for folder in folders if folder.parts and folder.parts[0] not in OF_THE_WHOLE}
    assert {folder.parts[0] for folder in mirrored} <= set(PARTS)
    nowhere = [f for f in sorted(mirrored) if not (ROOT / f).is_dir() and not (ROOT / f).with_suffix(".py").is_file()]
    assert nowhere == []
