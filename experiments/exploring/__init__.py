"""Every order of events: agents are explored as they are, in all states that a small network can reach.

| module           | what it does                                                                     |
|------------------|----------------------------------------------------------------------------------|
| `scenario_file`  | what is explored: a transcript's head, what may happen, what must hold           |
| `families`       | all connected graphs and all trees of so many nodes                              |
| `beginning`      | the setup is carried out, and leaves the first state                             |
| `instants`       | times that know that they are times                                              |
| `freezing`       | states of agents as values, and agents from them                                 |
| `numbering`      | numbers for values                                                               |
| `nodes`          | what single nodes do, worked out once                                            |
| `world`          | links, places, wishes, and what may still happen                                 |
| `choices`        | what may happen: single commands, and any of a kind                              |
| `doing`          | what a command does, and who is told                                             |
| `symmetry`       | nodes that look alike                                                            |
| `network`        | states of a whole network, and the steps between them                            |
| `reduction`      | orders of arrivals that come to the same                                         |
| `asking`         | asks the properties about states                                                 |
| `properties`     | the properties                                                                   |
| `probing`        | publishes in a copy of a quiet network                                           |
| `search`         | all states, the nearest first                                                    |
| `livelock`       | messages that go on for ever                                                     |
| `counterexample` | steps as a transcript that is worked by hand                                     |
| `exploration`    | one exploration, from its file to what is wrong                                  |
| `report`         | what was found, as a text                                                        |
| `workers`        | several networks at once                                                         |
"""
