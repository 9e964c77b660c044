"""Transcripts: a network, commands, and the exact messages that follow, for readers and tests.

docs/guide/transcripts.md is the language reference.

`document` and `head` read the file, with the network (`network`) and the sentences (`commands`). `timeline` makes a
scenario of them, `journal` the output lines, and `transcript` goes from file to file. A `Driver` of an installed
package can work the agents.
"""
