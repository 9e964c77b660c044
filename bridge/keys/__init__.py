"""How a key of the ini is declared, and how the text of its value is read.

`key` has the declaration itself, which stands at a field of a settings class of the scenario, and its range; `kinds`
has the kinds of values that there are; `values` has the functions that read the texts.
"""
