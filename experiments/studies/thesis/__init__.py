"""The evaluation of MFT-PubSub against AODV, section 4.5 of the thesis.

`study` plans the figures and `claims` reads the claims. The sweeps `explain-*` and `open-*` are of the same template;
docs/writers turns their results into pages.
"""
