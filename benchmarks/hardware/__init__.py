"""Sets the embedded radio and Castalia beside real IEEE 802.15.4 testbeds: `python -m benchmarks.hardware DIR`.

`tables` reads the reference's tables, `statistics` computes the same quantities of a recording with intervals,
`bursts` makes recordings on our back-ends as the testbeds made theirs, `fitting` makes a temporal model of a recording,
`report` and `figures` show what came of it.
"""
