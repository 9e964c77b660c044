"""Figures, from a plan to a picture.

`plans` says what a figure is to show before any number is looked up. `look_up` finds its numbers in the measurements,
which gives a `figure`; `drawing` draws that, in the `look` that was asked for, with the ends of `intervals` and the
`scales` of its axes, and `figure_table` writes its numbers in Markdown. Each study plans its own figures; `any_sweep`
plans those of a sweep that belongs to no study.
"""
