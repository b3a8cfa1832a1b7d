"""Serves the results of a folder to browsers on this machine."""

from __future__ import annotations

import errno
import mimetypes
import shutil
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from cwndlab.errors import InputError
from cwndlab.output import shelf

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

HOST = "127.0.0.1"
# The names by which a browser on this machine asks for it. With any other, a page of a stranger asks.
NAMES = (HOST, "localhost")


def server(root: Path, port: int) -> ThreadingHTTPServer:
    """Return a server for the files of a folder. Its first page lists the results. Port 0 is any free one.

    Raises `InputError` if there is no such folder, or the port cannot be used.
    """
    shelf.entries(root)
    try:
        return _Server((HOST, port), partial(_Handler, root))
    except OverflowError:
        raise InputError(f"--port {port}: expected 0 to 65535") from None
    except OSError as error:
        used = error.errno == errno.EADDRINUSE
        reason = "another program uses it" if used else error.strerror
        raise InputError(f"--port {port}: {reason}; expected a free port, or 0 for any") from None


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a browser that goes away in the middle of an answer."""


class _Handler(BaseHTTPRequestHandler):
    """Answers with the list, or with a file inside the folder. It changes nothing."""

    def __init__(self, root: Path, *arguments: Any) -> None:
        self._root = root
        super().__init__(*arguments)

    def do_GET(self) -> None:
        """Answer with a page or a file."""
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        """Answer with the headers only."""
        self._answer(with_body=False)

    def log_message(self, format: str, *values: Any) -> None:  # noqa: A002
        """Say nothing: the terminal is the user's."""

    def _answer(self, *, with_body: bool) -> None:
        host = self.headers.get("Host", "").rpartition(":")[0] or self.headers.get("Host", "")
        if host not in NAMES:
            self.send_error(HTTPStatus.FORBIDDEN, "This server answers to this machine only")
            return
        path = unquote(urlsplit(self.path).path)
        if path in ("/", f"/{shelf.INDEX}"):
            self._send_list(with_body=with_body)
            return
        file = self._inside(path)
        if file is None:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        with file.open("rb") as content:
            self._begin(mimetypes.guess_type(file.name)[0] or "text/plain", file.stat().st_size)
            if with_body:
                shutil.copyfileobj(content, self.wfile)

    def _send_list(self, *, with_body: bool) -> None:
        content = shelf.page(self._root, shelf.entries(self._root)).encode()
        self._begin("text/html; charset=utf-8", len(content))
        if with_body:
            self.wfile.write(content)

    def _begin(self, kind: str, length: int) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(length))
        self.send_header("X-Content-Type-Options", "nosniff")
        # A command may write the file again at any time.
        self.send_header("Cache-Control", "no-store")
        self.end_headers()

    def _inside(self, path: str) -> Path | None:
        """Return the regular file with this path, if links or dots do not lead out of the folder."""
        root = self._root.resolve()
        try:
            file = (root / path.lstrip("/")).resolve()
            is_file = file.is_file()
        except (ValueError, OSError):
            return None
        if not is_file or not file.is_relative_to(root):
            return None
        return None if any(part.startswith(".") for part in file.relative_to(root).parts) else file
