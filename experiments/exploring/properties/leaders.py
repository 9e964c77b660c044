"""A property of elections."""

from __future__ import annotations

from roambus.experiments.exploring.properties.property import View


def one_leader_a_partition(view: View) -> str | None:
    """In each part of the network that hangs together one broker leads, and no more."""
    for part in {view.world.part(node) for node in view.up}:
        overlays = {node: getattr(view.agents[node], "overlay", view.agents[node]) for node in sorted(part)}
        leaders = [node for node, overlay in overlays.items() if getattr(overlay, "is_leader", False)]
        brokers = [node for node in part if getattr(view.agents[node], "broker", overlays[node]) is not None]
        if brokers and len(leaders) != 1:
            names = " and ".join(map(view.name, leaders)) or "nobody"
            return f"among {' '.join(map(view.name, sorted(part)))} {names} lead"
    return None
