"""The MACs of the embedded radio, a module each: Castalia's TunableMAC, IEEE 802.15.4 and pure ALOHA.

`interface` says what a MAC is, and has the parts that all share; `registry` names them all. Their settings and keys are
in `bridge.scenario.mac`, which is read without the radio.
"""
