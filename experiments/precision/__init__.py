"""Stops when it is known: how many seeds a point needs until an interval, or the verdict on a claim, is narrow enough.

`width` reads what is asked for. `stein` says how many seeds a metric needs, from the first few of them; `looks` says
when a claim is settled, looking at its seeds a few times. `seeds` turns both into a number of seeds for each point of a
sweep, as a function of what was measured alone: whoever asks again gets the same answer, wherever runs were made.
"""
