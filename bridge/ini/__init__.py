"""Rendered OMNeT++ ini files, read into `roambus.bridge.scenario.scenario.Scenario`.

`syntax` splits a file into entries, `values` reads single values, `keys` lists every key that is known,
`deployment` places nodes, `movements` has the ways of those that a file moves, `reader` puts the scenario together.
"""

from roambus.bridge.ini.reader import movement_names, parse_scenario, radio_file_name, read_scenario

__all__ = ["movement_names", "parse_scenario", "radio_file_name", "read_scenario"]
