"""The embedded radio: CC2420, CSMA, mobility and energy. Its model is in docs/reference/radio.md.

- `backend`: the interface to the host; frames go into the compiled loop, deliveries come out.
- `setup`: the state that a run begins with, of the scenario and its seed.
- `state`: the arrays of records that the loop works on; `memory`: room in them, and hints to the processor.
- `engine`: how the loop is compiled, its queue of events, its random numbers; `kernel`: the loop itself.
- `mac`: CSMA and the duty cycle; `radio`: the states of the radio, and transmission; `receiver`: reception,
  interference and RSSI; `energy`: what nodes draw, and batteries.
"""
