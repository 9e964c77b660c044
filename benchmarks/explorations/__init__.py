"""Questions for `roambus explore`: what may happen to which network, and what must hold."""
