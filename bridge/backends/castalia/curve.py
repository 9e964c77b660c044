"""With CURVE only the run's own simulator may connect, and nobody on the way can read along or change anything."""

from __future__ import annotations

import zmq
from zmq.auth.thread import ThreadAuthenticator

from roambus.bridge.backends.castalia.endpoint import CurveKeys


class OnlyClient:
    """Tells the authenticator that the one key is welcome that was made for the run's simulator."""

    def __init__(self, keys: CurveKeys) -> None:
        self._key = keys.client_public.encode()

    def callback(self, domain: str, key: bytes) -> bool:  # noqa: ARG002  # the authenticator's interface
        """Whether `key`, a client's public key in Z85, is the run's."""
        return key == self._key


def admit_only_client(
    context: zmq.Context[zmq.Socket[bytes]], socket: zmq.Socket[bytes], keys: CurveKeys
) -> ThreadAuthenticator:
    """Makes `socket` a CURVE server that only the run's simulator passes; stop the authenticator after use."""
    authenticator = ThreadAuthenticator(context)
    authenticator.start()
    authenticator.configure_curve_callback("*", OnlyClient(keys))
    socket.curve_secretkey = keys.server_secret.encode()
    socket.curve_publickey = keys.server_public.encode()
    socket.curve_server = True
    return authenticator
