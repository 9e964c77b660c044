"""Exploring: agents are checked as they are, in all states that a small network can reach, or hunted in large ones.

| module             | content                                                           |
|--------------------|-------------------------------------------------------------------|
| `scenario_file`    | the question: a transcript's head, what may happen, what must hold |
| `shapes`           | graphs and trees of N nodes, and nodes that are alike             |
| `moments`          | relative time, and a probe for uses of the clock                  |
| `copies`           | agents as bytes, by pickle                                        |
| `nodes`            | states of single nodes and their answers to events                |
| `world`            | links, places, subscriptions and history                          |
| `steps`            | states, steps and rules of a network                              |
| `model`            | the steps from each state                                         |
| `reduction`        | the option `--reduce`                                             |
| `checker`          | the breadth-first search                                          |
| `fair_cycles`      | runs that never end                                               |
| `properties`       | what must hold                                                    |
| `property_checker` | evaluates properties in states                                    |
| `probes`           | publishes in a copy of a quiet network                            |
| `initial_state`    | the state at the end of a setup                                   |
| `counterexamples`  | paths as transcripts                                              |
| `verdicts`         | what an exploration has decided, within which bounds              |
| `exploration`      | one exploration from its file to its report                       |
| `random_networks`  | random trees, graphs and fields                                   |
| `histories`        | random histories, drawn and shrunk                                |
| `hunt`             | runs random histories in several processes                        |
"""
