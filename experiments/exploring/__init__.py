"""Every order of events: agents are explored as they are, in all states that a small network can reach.

| module           | what it does                                                                     |
|------------------|----------------------------------------------------------------------------------|
| `scenario_file`  | what is explored: a transcript's head, what may happen, what must hold           |
| `families`       | all connected graphs and all trees of so many nodes                              |
| `beginning`      | the setup is carried out, and leaves the first state                             |
| `instants`       | times that know that they are times                                              |
| `freezing`       | states of agents as values, and agents from them                                 |
| `insides`        | what objects hold, and the path to something inside                              |
| `numbering`      | numbers for values                                                               |
| `nodes`          | what single nodes do, worked out once                                            |
| `world`          | links, places, wishes, and what may still happen                                 |
| `choices`        | what may happen: single commands, and any of a kind                              |
| `doing`          | what a command does, and who is told                                             |
| `symmetry`       | nodes that look alike                                                            |
| `rules`          | what a state and a step are, and what a network does beside its agents           |
| `parts`          | worlds and queues, by their numbers                                              |
| `consequences`   | what follows at one instant                                                      |
| `plans`          | what a command comes to in each world                                            |
| `network`        | the steps from each state of a whole network                                     |
| `reduction`      | orders of arrivals that come to the same                                         |
| `asking`         | asks the properties about states                                                 |
| `properties`     | the properties                                                                   |
| `probing`        | publishes in a copy of a quiet network                                           |
| `found`          | bounds, and what was found                                                       |
| `store`          | the states that were found                                                       |
| `search`         | all states, the nearest first                                                    |
| `livelock`       | messages that go on for ever                                                     |
| `counterexample` | steps as a transcript that is worked by hand                                     |
| `spelling`       | digests of values, alike in all processes                                        |
| `codes`          | states as bytes that every process reads alike                                   |
| `sharing`        | a process' part of a search by several                                           |
| `exploration`    | one exploration, from its file to what is wrong                                  |
| `labels`         | what a search is about                                                           |
| `keeping`        | a search as a file, from which it goes on                                        |
| `keeper`         | the folder of such files                                                         |
| `serving`        | one of several processes                                                         |
| `conducting`     | hands round what they have for each other                                        |
| `report`         | what was found, as a text                                                        |
| `workers`        | one network, or a family, by several processes                                   |
"""
