"""Rendered OMNeT++ ini files, read into `roambus.bridge.scenario.definition.Scenario`.

`syntax` splits a file into entries, and `lookup`, which knows the keys that there are, finds their values. `reader`
puts the scenario together and reads its workload; `radio` reads radio and MAC, and `network` the nodes and who is
linked to whom.
"""

from roambus.bridge.ini.lookup import Anything
from roambus.bridge.ini.reader import check_files, file_names, parse_scenario, radio_file_name, read_scenario

__all__ = ["Anything", "check_files", "file_names", "parse_scenario", "radio_file_name", "read_scenario"]
