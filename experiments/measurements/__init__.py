"""What a sweep measured, as tables that figures, claims, reports and comparisons share.

`measurements` holds and reads them, `by_seed` picks one value for each seed, `names` says what agents and axes are
called. `tables` makes texts of the numbers, `markdown` writes tables in Markdown, and `point_table` is one such table
with a row for each point and a column for each agent.
"""
