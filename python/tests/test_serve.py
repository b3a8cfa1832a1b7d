"""The list of results, as a file and served."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

import cwndlab as cl
from cwndlab.output import serving, shelf
from tests.conftest import Command
from tests.samples import flow, outcome, result


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two results, one of an earlier version, and other things."""
    root = tmp_path / "out"
    result([outcome([flow("a", 1)])]).save(root / "one", figures=False)
    result([outcome([flow("a", 1), flow("b & c", 2)])] * 3).save(root / "of two" / "sim", figures=False)
    (root / "old").mkdir()
    (root / "old" / "report.html").write_text("an old report")
    for entry, time_s in (("one", 3000), ("of two/sim", 2000), ("old", 1000)):
        os.utime(root / entry / "report.html", (time_s, time_s))
    (root / ".hidden").mkdir()
    (root / ".hidden" / "report.html").write_text("hidden")
    (root / "notes").mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    (root / "link.txt").symlink_to(tmp_path / "secret.txt")
    (root / "linked").symlink_to(tmp_path)
    os.mkfifo(root / "pipe")
    return root


@pytest.fixture
def port(folder: Path) -> Iterator[int]:
    """The port at which it is served."""
    with serving.server(folder, 0) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def got(port: int, path: str, method: str = "GET", host: str = "localhost") -> tuple[int, str, str]:
    """Status, type and content of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.putrequest(method, path, skip_host=True)
    connection.putheader("Host", f"{host}:{port}")
    connection.endheaders()
    answer = connection.getresponse()
    found = answer.status, answer.headers["Content-Type"] or "", answer.read().decode(errors="replace")
    connection.close()
    return found


def test_the_newest_comes_first(folder: Path) -> None:
    found = shelf.entries(folder)
    assert [str(entry.place) for entry in found] == ["one", "of two/sim", "old"]
    assert [entry.about and entry.about.seeds for entry in found] == [(1,), (1, 2, 3), None]


def test_the_page_holds_name_seeds_and_answer(folder: Path) -> None:
    page = shelf.write(folder).read_text()
    assert shelf.write(folder).name == "index.html"
    assert 'href="./of%20two/sim/report.html"' in page
    assert "1-3" in page
    assert "b &amp; c (cubic) gets 2 Mbit/s" in page
    assert "An earlier version wrote it" in page
    assert "hidden/report" not in page
    for link in re.findall(r'href="\./([^"]+)"', page):
        assert (folder / link.replace("%20", " ")).is_file()


def test_an_empty_folder(tmp_path: Path) -> None:
    assert "No results yet" in shelf.page(tmp_path, shelf.entries(tmp_path))


def test_the_list_and_its_reports_are_served(folder: Path, port: int) -> None:
    status, kind, page = got(port, "/")
    assert (status, kind) == (200, "text/html; charset=utf-8")
    assert page == shelf.page(folder, shelf.entries(folder))
    status, kind, report = got(port, "/of%20two/sim/report.html?x=1#y")
    assert (status, kind) == (200, "text/html")
    assert report == (folder / "of two" / "sim" / "report.html").read_text()
    assert got(port, "/one/result.json", "HEAD")[::2] == (200, "")
    assert got(port, "/", "HEAD")[::2] == (200, "")


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/one/../../secret.txt",
        "/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "//etc/passwd",
        "/link.txt",
        "/linked/secret.txt",
        "/.hidden/report.html",
        "/one",
        "/one/",
        "/pipe",
        "/missing",
        "/%00",
        "/" + "x" * 5000,
        "/" + quote("ä" * 300),
    ],
)
def test_nothing_else_is_served(port: int, path: str) -> None:
    status, _, content = got(port, path)
    assert status == 404
    assert "secret" not in content
    assert "root:" not in content


def test_other_names_and_methods_are_refused(port: int) -> None:
    assert got(port, "/", host="stranger.example")[0] == 403
    assert got(port, "/", host="127.0.0.1")[0] == 200
    for method in ("POST", "PUT", "DELETE"):
        assert got(port, "/one/report.html", method)[0] == 501


def test_a_used_port_and_a_missing_folder(folder: Path, tmp_path: Path) -> None:
    with socket.socket() as used:
        used.bind(("127.0.0.1", 0))
        used.listen()
        port = used.getsockname()[1]
        with pytest.raises(cl.InputError, match=f"--port {port}: another program uses it; expected a free"):
            serving.server(folder, port)
    for wrong in (tmp_path / "none", tmp_path / "secret.txt"):
        with pytest.raises(cl.InputError, match="expected a folder of results"):
            serving.server(wrong, 0)


def test_ctrl_c_ends_it(cwndlab: Command, folder: Path) -> None:
    process = subprocess.Popen(
        cwndlab.line("serve", str(folder), "--port", "0"),
        cwd=cwndlab.folder,
        env=cwndlab.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    told = process.stdout.readline()
    found = re.search(r"http://127\.0\.0\.1:(\d+)/", told)
    assert found is not None, told
    assert got(int(found[1]), "/")[0] == 200
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=30)
    assert (process.returncode, stderr.strip()) == (0, "")
