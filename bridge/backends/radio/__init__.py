"""The embedded radio: CC2420, CSMA, mobility and energy, with a compiled inner loop."""
