"""The embedded CC2420: channel, radio, MAC and energy in a compiled event loop, behind the interface of back-ends.

`engine` compiles the loop, and has its event queue and random numbers; `kernel` is the loop. `mac/` has a module a MAC;
`radio`, `receiver` and `medium` are the layers below, `channel` has path losses, `energy` batteries. `state` holds
everything, `setup` makes it from a scenario, and `backend` connects it to the host.
"""
