"""Reads rendered OMNeT++ ini files into `roambus.bridge.scenario.definition.Scenario`.

`syntax` splits a file into entries, `lookup` finds their values. `reader` assembles the scenario and its workload from
`radio` and `network`.
"""

from roambus.bridge.formats.ini.lookup import AnyKeys
from roambus.bridge.formats.ini.reader import (
    check_files,
    file_names,
    further_values,
    parse_scenario,
    read_scenario,
    seed_of,
)

__all__ = [
    "AnyKeys",
    "check_files",
    "file_names",
    "further_values",
    "parse_scenario",
    "read_scenario",
    "seed_of",
]
