"""The embedded radio: CC2420, CSMA, mobility and energy. The page docs/radio.md has the model that it follows.

`backend` is the back-end, `factory` makes it, and `setup` makes the state that it begins with, of the channel's path
loss (`channel`), the nodes' ways (`mobility`) and the settings (`records`). The rest is compiled: `kernel` runs the
events of `heap` and `events`; `csma` is the MAC; `transmitter` and `receiver` are the two halves of the radio,
`hearers` who is reached; `tables` has the arithmetic of powers, `chance` the random numbers, `traffic` a load for
benchmarks; `outbox` is what Python gets to know. `state` lays out what all of them work on, `compiled` says how they
are compiled, and `energy` adds up what was used.
"""
