"""Lets controllers of this process drive a kernel's sockets, whose clock stands still while they decide."""

from __future__ import annotations

import socket
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING

from cwndlab.system.interrupting import interrupt

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from cwndlab._native import ControllerServer

# The longest message of a kernel, in bytes.
MESSAGE = 65536
# How long a controller may take to end after its kernel.
GRACE_S = 1.0


class Serving:
    """Answers what a kernel asks, in a thread of its own, from entering to leaving.

    `theirs` is the kernel's end of the line. Our copy of it is to be closed: the messages end with the
    kernel then.
    """

    def __init__(self, server: ControllerServer) -> None:
        self._server = server
        self._error: RuntimeError | None = None
        # Each message is one packet, and an end that is closed is the end of the messages.
        self._ours, self.theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._thread = Thread(target=self._serve, name="controllers", daemon=True)

    def check(self) -> None:
        """Raise the error of the controller that broke the run off, if one did."""
        if self._error is not None:
            raise self._error

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.theirs.close()
        with suppress(OSError):
            self._ours.shutdown(socket.SHUT_RDWR)
        self._thread.join(GRACE_S)
        # A controller that is in an endless loop does not see that its line is closed.
        while self._thread.is_alive():
            interrupt(self._thread.ident or 0)
            self._thread.join(GRACE_S)
        self._ours.close()

    def _serve(self) -> None:
        try:
            while message := self._ours.recv(MESSAGE):
                self._ours.send(self._server.answer(message))
        except RuntimeError as error:
            self._error = error
        except OSError:
            # The kernel has ended before it read the answer.
            pass
        finally:
            with suppress(OSError):
                self._ours.shutdown(socket.SHUT_RDWR)
