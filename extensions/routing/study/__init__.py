"""Routing protocols side by side: size, speed and flows, with the claims of Broch et al. (MobiCom 1998)."""
