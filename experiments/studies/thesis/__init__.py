"""The evaluation of MFT-PubSub against AODV, section 4.5 of the thesis: figures, claims, and what explains them.

`study` plans the figures of the sweep `thesis`, and `claims` reads the thesis' ten claims about them. `thesis-bare`,
`aodv-rfc` and `flooding` are the same sweep without a link layer and with other agents; `size_and_speed` has what all
of them vary. The other modules write docs/reproduction.md: `reproduction` is the program, `gallery` draws its
pictures, `further_claims` reads the rest of the text, `explanations` tests suppositions by the small sweeps
`explain-*`, `more_protocols` compares what the thesis does not (`unicast`, more protocols, costs), and
`rerun_command` names the commands that make the runs again.
"""
