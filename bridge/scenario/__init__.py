"""What a run is about: everything that a rendered ini says, as typed classes that declare their keys.

`scenario` is the whole, and has the workload. `network`, `channel`, `radio`, `mac`, `mobility`, `node`, `application`
and `ideal` are the parts that mirror modules of Castalia, and declare the keys of the ini. `happenings` has what can
happen to links and nodes, and `plans` reads it. `absences`, `faults`, `given_sites` and `given_tree` say which of
these make sense, and what becomes of them.
"""
