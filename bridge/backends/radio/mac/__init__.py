"""The MACs of the embedded radio, a module each: Castalia's TunableMAC and IEEE 802.15.4.

`interface` says what a MAC is, and has the parts that all share; `registry` names them all. Their settings and keys are
in `bridge.scenario.mac`, which is read without the radio.
"""
