"""Reads rendered OMNeT++ ini files into `roambus.bridge.scenario.definition.Scenario`.

`syntax` splits a file into entries, `lookup` finds their values. `reader` assembles the scenario and its workload from
`radio` and `network`.
"""

from roambus.bridge.formats.ini.lookup import AnyKeys
from roambus.bridge.formats.ini.reader import check_files, file_names, parse_scenario, radio_file_name, read_scenario

__all__ = ["AnyKeys", "check_files", "file_names", "parse_scenario", "radio_file_name", "read_scenario"]
