"""Records: a run that keeps all that simulator and host said, and that can be run again without a simulator.

`recorder` keeps the exchange of any back-end. `record_file` is the file that it goes to. `replay` is the back-end
that says what a record's simulator said, `rerun` runs the agents against it, and `differences` tells a person where
they differ.
"""
