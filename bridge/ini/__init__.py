"""Rendered OMNeT++ ini files, read into `roambus.bridge.scenario.scenario.Scenario`.

`syntax` splits a file into entries. `keys` gathers the keys that there are, and `lookup` finds their values in the
file. `reader` puts the scenario together from its parts: `radio` with `radio_file` for radio and MAC, `nodes` with
`deployment` and `movements` for the nodes, `measured` for links that were recorded or that vary, `links` for trees,
links, absences and faults, `workload` with `orders` for the applications. `page` and `parity` write pages of the docs.
"""

from roambus.bridge.ini.reader import file_names, parse_scenario, radio_file_name, read_scenario

__all__ = ["file_names", "parse_scenario", "radio_file_name", "read_scenario"]
