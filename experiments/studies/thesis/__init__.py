"""The evaluation of MFT-PubSub against AODV, section 4.5 of the thesis.

`study` plans figures, `claims` reads claims. Sweeps `explain-*` and `open-*` share the template; docs/writers makes
pages of their results.
"""
