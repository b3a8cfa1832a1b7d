"""Kernels whose runs are episodes: their clocks stand still while an agent of this process decides."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING

from cwndlab.linux.instance import Instance, Size, request

if TYPE_CHECKING:
    from cwndlab.linux.instance import Overrides, Remote
    from cwndlab.linux.kernel import Kernel


class Playing:
    """A kernel that plays one episode. It ends with this object, and before this process ends.

    `agents` are the names of the flows that have agents, `remote` the algorithms whose controllers this
    process has.
    """

    def __init__(
        self,
        image: Kernel,
        run: tuple[bytes, str, Overrides, int],
        remote: Remote,
        agents: list[str],
        sizes: tuple[float, float, float, float],
    ) -> None:
        text, file, overrides, seed = run
        asked = request(text, file, overrides, remote, seed, agents=agents)
        size = Size(*sizes)
        # Each message is one packet, and an end that is closed is the end of the messages.
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._instance = Instance(image, asked, size, theirs)
        self.limit_s = size.limit_s

    def line(self) -> int:
        """Give our end of the line away: the number of its file."""
        return self._ours.detach()

    def measures(self) -> str:
        """Return the measures as JSON, once the line is closed.

        Raises `RuntimeError` if the kernel failed.
        """
        if not self._instance.ended(self.limit_s):
            raise RuntimeError(self.failure(f"it did not end within {self.limit_s:.0f} s"))
        self._instance.check()
        return json.dumps(self._instance.result()["outcome"])

    def failure(self, reason: str) -> str:
        """Return the reason with the last lines of the console."""
        return self._instance.failure(reason)

    def close(self) -> None:
        """End the kernel."""
        self._instance.end()
