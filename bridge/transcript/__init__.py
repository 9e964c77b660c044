"""Transcripts: a network, commands, and the exact messages that follow, as texts that people read and tests compare.

A file has a head, then blocks of a command and what it causes; docs/transcripts.md is the reference. Everything is
compiled to one scenario, in which each command gets a stretch of time of its own, and run once over ideal links with
the host and the agents of any other run.

| module       | what it does                                                                    |
|--------------|---------------------------------------------------------------------------------|
| `document`   | the file as lines: head, commands, and what is left out and put in              |
| `head`       | agent, seed, times and network out of the head                                  |
| `network`    | trees and links with the names of their nodes                                   |
| `vocabulary` | filters and events by name                                                      |
| `commands`   | the commands, and how they are written                                          |
| `timeline`   | commands to a scenario and stretches of time                                    |
| `journal`    | what the agents are told and do, while the scenario runs                        |
| `wording`    | the journal as lines                                                            |
| `outputs`    | which lines stand below which command                                           |
| `transcript` | all of this, one after the other                                                |
"""
