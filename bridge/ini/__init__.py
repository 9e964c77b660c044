"""Rendered OMNeT++ ini files, read into `bridge.scenario.Scenario`.

`syntax` splits a file into entries, `values` reads single values, `keys` lists every key that is known,
`deployment` places nodes, `reader` puts the scenario together.
"""

from bridge.ini.reader import parse_scenario, radio_file_name, read_scenario

__all__ = ["parse_scenario", "radio_file_name", "read_scenario"]
