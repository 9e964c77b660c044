"""The evaluation of MFT-PubSub against AODV, section 4.5 of the thesis.

`study` plans figures, `claims` reads claims. Sweeps `explain-*` share the template; docs/results has
pages of their results.
"""
