"""What goes wrong on random moving trees, and how often: properties as in tests/python_protocol/test_moving_trees.py.

python -m benchmarks.moving_trees --agent mft --runs 5000
python -m benchmarks.moving_trees --agent mft --param home_decides=false --runs 5000
python -m benchmarks.moving_trees --agent first-approach --one-at-a-time --slow --runs 5000
python -m benchmarks.moving_trees --agent mft --param profile=tuned --bundles --runs 10000

python -m benchmarks.moving_trees --agent mft --partings --runs 60000

With --bundles MFT-PubSub has its link layer and heartbeats, which the profile tuned needs, at the pace of the links.

Each run is whole agents over ideal links on a tree of up to 10 brokers, in which up to 12 things happen: clients and
brokers move, subscribe, unsubscribe, publish, crash, freeze and recover, the tree parts and merges. Small trees find
what takes several steps at one place. Exits with 1 if anything but notifications under way went wrong.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random

import click
from rich.progress import track

from benchmarks.histories import PARAMETERS
from roambus.bridge.agents import load_agent
from roambus.python_protocol.brokers.agent import BrokerAgent
from tests.support.moving_trees import FAULTS, FREEZE, IN_BUNDLES, KINDS, Plan, Result, Step, carry_out

_NUMBERS = 30

QUIET: dict[str, Callable[[Result], object]] = {
    "undelivered or doubled once all is quiet": Result.undelivered,
    "stored for a subscriber within reach": Result.stuck,
    "phantom subscription": Result.phantoms,
    "never quiet": Result.restless,
}
UNDER_WAY: dict[str, Callable[[Result], object]] = {
    "lost under way": Result.lost,
    "doubled under way": Result.doubled,
}


@click.command()
@click.option("--agent", default="mft", show_default=True, help="mft or first-approach.")
@PARAMETERS
@click.option("--runs", default=1000, show_default=True, help="Random plans to carry out.")
@click.option("--seed", default=0, show_default=True, help="Of the plans.")
@click.option("--one-at-a-time", is_flag=True, help="Each step waits until all is quiet.")
@click.option("--bundles", is_flag=True, help="In bundles, with heartbeats; for mft.")
@click.option("--brokers", type=click.IntRange(2), default=10, show_default=True, help="The most that a tree has.")
@click.option("--freezes", is_flag=True, help="Nodes freeze, too; then nothing is quiet until they are back.")
@click.option("--slow", is_flag=True, help="Links of 1 ms to 2 s, drawn for each run and for each link, for 1 ms.")
@click.option("--partings", is_flag=True, help="Small trees that part, and what is said meanwhile; for mft.")
@click.option("--no-faults", is_flag=True, help="Without crashes; only then is what is lost counted.")
def main(  # noqa: PLR0913, PLR0917  # an argument an option
    agent: str,
    parameters: dict[str, str],
    runs: int,
    seed: int,
    one_at_a_time: bool,
    bundles: bool,
    brokers: int,
    freezes: bool,
    slow: bool,
    partings: bool,
    no_faults: bool,
) -> None:
    """Counts the runs in which each property fails."""
    agent_class = load_agent(agent)
    if not issubclass(agent_class, BrokerAgent):
        raise click.BadParameter(f"{agent} is no protocol of the broker family", param_hint="--agent")
    values = (IN_BUNDLES if bundles else {}) | parameters
    checks = QUIET | (UNDER_WAY if no_faults else {})
    random, failed = Random(seed), Counter[str]()
    kinds = [kind for kind in KINDS if kind not in FAULTS or not no_faults] + [FREEZE] * freezes
    for number in track(range(runs), description=agent, disable=not sys.stderr.isatty()):
        plan = draw(random, kinds, brokers, crossing=not one_at_a_time)
        plan = draw_partings(Random(seed + number)) if partings else plan
        plan = replace(plan, delays=draw_delays(random)) if slow else plan
        result = carry_out(agent_class, plan, values)
        if found := [name for name, find in checks.items() if find(result)]:
            failed.update(found)
            print(f"run {number}: {', '.join(found)}: {plan}", file=sys.stderr)
    for name in checks:
        print(f"{name}: {failed[name]} of {runs} runs")
    sys.exit(any(failed[name] for name in QUIET))


def draw(random: Random, kinds: list[str], brokers: int, *, crossing: bool) -> Plan:
    """A plan of two brokers to so many, at most 3 clients and 3 subscriptions, and 12 more steps of these kinds."""
    subscriptions = [Step("subscribe", _number(random), _number(random)) for _ in range(random.randint(1, 3))]
    steps = [_step(random, kinds, crossing=crossing) for _ in range(random.randint(1, 12))]
    parents = (_number(random) for _ in range(random.randint(1, brokers - 1)))
    clients = (_number(random) for _ in range(random.randint(0, 3)))
    return Plan(tuple(parents), tuple(clients), (*subscriptions, *steps))


def draw_delays(random: Random) -> tuple[int, ...]:
    """The delays of up to seven links, in ms, which the others have in turn."""
    return tuple(random.choice((1, 10, 100, 500, 1000, 2000)) for _ in range(random.randint(1, 7)))


def draw_partings(random: Random) -> Plan:
    """A tree of 3 or 4 brokers that parts once or twice, and parts again just after it has met.

    Meanwhile one subscriber says something, when it is cut off and when it is back, so that what a broker is to be
    told of it is often lost: without `ask_gaps` 6 of 2,000 such plans go wrong, and none of 15,000 that `draw` makes.
    """
    brokers, clients = random.randint(3, 4), random.randint(0, 2)
    nodes = range(brokers + clients)
    subscriptions = [Step("subscribe", node, random.randrange(3)) for node in nodes if random.random() < 0.7]
    steps = [step for _ in range(random.randint(1, 2)) for step in _parting(random, brokers, clients)]
    parents = tuple(random.randrange(brokers) for _ in range(brokers - 1))
    homes = tuple(random.randrange(brokers) for _ in range(clients))
    delays = tuple(random.choice((1, 1, 1, 2)) for _ in range(random.randint(1, 6)))
    return Plan(parents, homes, (*subscriptions, *steps), delays)


def _parting(random: Random, brokers: int, clients: int) -> Iterator[Step]:
    away, client = random.randrange(brokers), random.randrange(clients) if clients else 0
    who = away if not clients or random.random() < 0.5 else brokers + client
    yield Step("cut", away, 0)
    if random.random() < 0.5:
        yield Step("roam", client, random.randrange(brokers), random.choice((None, 0)))
    yield from (_say(random, who) for _ in range(random.randint(1, 2)))
    back = random.randrange(brokers)
    yield Step("move", random.choice((away, random.randrange(brokers))), back)
    if random.random() < 0.5:
        yield replace(_say(random, who), gap=random.choice((0, 0, 1)))
    else:
        yield Step("roam", client, random.randrange(brokers), random.choice((0, 0, 1)))
    lost = random.randrange(brokers)
    yield Step("cut", lost, 0, random.choice((1, 2, 2, 3, 3, 4)))
    yield Step("move", lost, random.randrange(brokers))


def _say(random: Random, subscriber: int) -> Step:
    kind = random.choice(("subscribe", "subscribe", "subscribe", "unsubscribe"))
    return Step(kind, subscriber, random.randrange(3), random.choice((None, 0, 1)))


def _step(random: Random, kinds: list[str], *, crossing: bool) -> Step:
    gap = random.choice([None, None, 0, 1, 2, 3, 5]) if crossing else None
    return Step(random.choice(kinds), _number(random), _number(random), gap)


def _number(random: Random) -> int:
    return random.randrange(_NUMBERS)


if __name__ == "__main__":
    main()
