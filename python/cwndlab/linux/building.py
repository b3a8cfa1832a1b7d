"""Builds the kernel of the Linux backend: `python -m cwndlab.linux.building`, which `make linux` calls.

The kernel's source is Debian's package, or the folder or archive in $LINUX_SOURCE. It is unpacked into the
user's cache, patched, and built for User Mode together with our C code and our crates. A second build reuses
the first one's objects.
"""

from __future__ import annotations

import datetime
import fcntl
import hashlib
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab.errors import CwndlabError, InputError
from cwndlab.linux import crate as crates
from cwndlab.linux import kernel
from cwndlab.system import checkout, writing
from cwndlab.system.progress import progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from cwndlab.linux.crate import Crate

# Where Debian's packages put the source.
PACKAGES = Path("/usr/src")
DEBIAN = "linux-source-6.12"
# Programs that the build needs, with the Debian packages that have them.
TOOLS = {
    "gcc": "gcc",
    "make": "make",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "patch": "patch",
    "tar": "tar",
    "xz": "xz-utils",
    "ld": "binutils",
    "cargo": "cargo",
}
# Large parts of the source that a kernel for User Mode does not read.
LEFT_OUT = (
    "*/Documentation/*/*",
    "*/tools/testing/*",
    "*/drivers/gpu/drm/amd/include/*",
    "*/arch/arm*/boot/dts/*",
)
# Our place in the kernel's source.
ROOM = "drivers/net/cwndlab"
# The approximate number of lines that a whole build prints.
LINES = 1080
# The same bytes whenever and wherever it is built.
REPRODUCIBLE = {
    "KBUILD_BUILD_TIMESTAMP": "1970-01-01",
    "KBUILD_BUILD_USER": "cwndlab",
    "KBUILD_BUILD_HOST": "cwndlab",
    "KBUILD_BUILD_VERSION": "1",
    "LC_ALL": "C",
}


@dataclass(frozen=True)
class Tree:
    """The patched source of a kernel."""

    folder: Path
    origin: str

    @property
    def version(self) -> str:
        """The version in its Makefile."""
        text = (self.folder / "Makefile").read_text(encoding="utf-8")
        found = dict(re.findall(r"^(VERSION|PATCHLEVEL|SUBLEVEL) = (\d+)$", text, re.MULTILINE))
        return ".".join(found[part] for part in ("VERSION", "PATCHLEVEL", "SUBLEVEL"))


@dataclass(frozen=True)
class Library:
    """Our crates as one static library, and the user's crate that is in it."""

    file: Path
    crate: dict[str, Any] | None = None


def build(crate: Crate | None = None) -> kernel.Kernel:
    """Build the kernel, with a user's crate or without, unless it is there, and return it.

    Raises `InputError` if something is missing, and `CwndlabError` with what the compiler says if the crate
    cannot be compiled.
    """
    checkout.require("a kernel for the Linux backend")
    _require_machine()
    origin = _origin()
    made_of = [kernel.sources(), _identity(origin), _compilers()]
    with _alone():
        library = None
        if crate is not None:
            library = _compile_with(crate)
            made_of += [json.dumps(library.crate), kernel.digest(crate.project_files())]
        name = hashlib.sha256("\n".join(made_of).encode()).hexdigest()[:16]
        folder = kernel.folder() / "kernels" / name
        if not (folder / kernel.ABOUT).exists():
            tree = _tree(origin)
            library = library or _compile()
            _link(tree, library)
            _make(tree)
            _install(tree, folder, library)
    return next(each for each in kernel.built() if each.folder == folder)


@contextmanager
def _alone() -> Iterator[None]:
    """Wait until no other process builds: trees and objects are shared."""
    kernel.folder().mkdir(parents=True, exist_ok=True)
    lock = os.open(kernel.folder() / "lock", os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _require_machine() -> None:
    machine = f"{platform.system()} {platform.machine()}"
    if machine != "Linux x86_64":
        raise InputError(f"the Linux backend: expected Linux on x86-64, found {machine}")
    missing = {tool: package for tool, package in TOOLS.items() if shutil.which(tool) is None}
    if missing:
        install = f"apt-get install {' '.join(missing.values())}"
        raise InputError(f"the Linux backend: {', '.join(missing)} not found; {install}")


def _origin() -> Path:
    """Return the kernel's source: the one that the user names, or Debian's newest."""
    given = os.environ.get("LINUX_SOURCE")
    if given:
        path = Path(given)
        if not path.exists():
            raise InputError(
                f"LINUX_SOURCE={given}: expected the kernel's source, a folder or an archive, found nothing"
            )
        return path.resolve()
    found = sorted(PACKAGES.glob("linux-source-*.tar.xz"), key=_version_of)
    if not found:
        raise InputError(
            f"the Linux backend: no kernel source in {PACKAGES}; apt-get install {DEBIAN}, or name one: "
            "make linux LINUX_SOURCE=path"
        )
    return found[-1]


def _version_of(path: Path) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", path.name)]


def _identity(origin: Path) -> str:
    """Return what tells this source from another: an archive is not read for it."""
    status = origin.stat()
    return f"{origin} {status.st_size} {status.st_mtime_ns}"


def _compilers() -> str:
    versions = [_output([program, "--version"]).splitlines()[0] for program in ("gcc", "ld", "rustc")]
    return "\n".join(versions)


def _output(command: Sequence[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def _tree(origin: Path) -> Tree:
    """Return the patched and configured source, unpacked unless it is there."""
    ours = checkout.root() / "crates" / "linux" / "kernel"
    patch, config = (ours / name for name in ("linux.patch", "config"))
    name = hashlib.sha256(
        _identity(origin).encode() + patch.read_bytes() + config.read_bytes() + _compilers().encode()
    ).hexdigest()[:16]
    folder = kernel.folder() / "trees" / name
    if not folder.exists():
        begun = folder.with_suffix(f".{os.getpid()}")
        shutil.rmtree(begun, ignore_errors=True)
        print(f"unpacking {origin} into {folder}", file=sys.stderr)
        _unpack(origin, begun)
        _run(
            ["patch", "--strip=1", "--fuzz=0", "--force", f"--input={patch}"],
            begun,
            "the patch does not apply to this version",
        )
        above = begun / "drivers/net/Makefile"
        writing.write_text(above, f"{above.read_text(encoding='utf-8')}obj-y += {Path(ROOM).name}/\n")
        _configure(begun, config)
        begun.rename(folder)
    return Tree(folder, str(origin))


def _unpack(origin: Path, folder: Path) -> None:
    if origin.is_dir():
        shutil.copytree(origin, folder, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        return
    folder.mkdir(parents=True)
    left_out = [f"--exclude={each}" for each in LEFT_OUT]
    _run(
        ["tar", "--extract", f"--file={origin}", "--strip-components=1", *left_out],
        folder,
        "it cannot be unpacked",
    )


def _configure(folder: Path, config: Path) -> None:
    room = folder / ROOM
    room.mkdir(exist_ok=True)
    (room / "Makefile").touch()
    _run(["make", "ARCH=um", "allnoconfig"], folder, "allnoconfig failed")
    _run(
        ["scripts/kconfig/merge_config.sh", "-m", ".config", str(config)],
        folder,
        "the configuration does not fit",
    )
    _run(["make", "ARCH=um", "olddefconfig"], folder, "olddefconfig failed")
    kept = (folder / ".config").read_text(encoding="utf-8").splitlines()
    wanted = [line for line in config.read_text(encoding="utf-8").splitlines() if line.startswith("CONFIG_")]
    lost = [line for line in wanted if not line.endswith("=n") and line not in kept]
    if lost:
        raise CwndlabError(f"the Linux backend: this kernel does not take {', '.join(lost)}")


def _target() -> Path:
    """Return where cargo keeps what it has compiled of this checkout.

    Cargo knows a crate by its place in the checkout and by times of files. In a folder that two checkouts
    share it takes what the other has compiled later for its own.
    """
    of_checkout = hashlib.sha256(str(checkout.root()).encode()).hexdigest()[:16]
    return kernel.folder() / "target" / of_checkout


def _compile() -> Library:
    """Compile our crates."""
    print("compiling the links and measures (Rust)", file=sys.stderr)
    cargo = ["cargo", "rustc", "--quiet", "--locked", "--profile", "linux", "--package", "cwndlab-linux"]
    _run(
        [*cargo, "--lib", "--crate-type", "staticlib", "--target-dir", str(_target())],
        checkout.root(),
        "the Rust part failed",
    )
    return Library(_target() / "linux" / "libcwndlab_linux.a")


def _compile_with(crate: Crate) -> Library:
    """Compile our crates together with a user's."""
    print(f"compiling {crate.folder} with the links and measures (Rust)", file=sys.stderr)
    crate.write_project()
    built = _target() / "linux"
    cargo = ["cargo", "build", "--quiet", "--profile", "linux", "--target-dir", str(_target())]
    answer = subprocess.run(
        cargo,
        cwd=crate.project,
        env={**os.environ, **REPRODUCIBLE},
        capture_output=True,
        text=True,
        check=False,
    )
    if answer.returncode:
        raise CwndlabError(f"--with {crate.folder}: cannot be compiled:\n{crates.plain(answer.stderr)}")
    return Library(built / f"lib{crates.PROJECT}.a", crate.about(crate.files(built)))


def _link(tree: Tree, library: Library) -> None:
    """Make one object of the library, and put it beside our C code."""
    ours = checkout.root() / "crates" / "linux"
    sources = (path.read_text(encoding="utf-8") for path in sorted((ours / "src").glob("*.rs")))
    symbols = re.findall(r'extern "C" fn (cw_\w+)', "\n".join(sources))
    room = tree.folder / ROOM
    for path in [*(ours / "kernel").glob("*.[ch]"), ours / "kernel" / "Makefile"]:
        shutil.copy(path, room)
    whole = room / "rust.o_shipped"
    wanted = ["-Wl,--gc-sections", *(f"-Wl,--undefined={symbol}" for symbol in symbols)]
    _run(
        ["gcc", "-nostdlib", "-r", *wanted, "-o", str(whole), str(library.file), "-lm"],
        room,
        "linking the Rust part failed",
    )
    kept = [f"--keep-global-symbol={symbol}" for symbol in symbols]
    _run(["objcopy", "--strip-debug", *kept, str(whole)], room, "linking the Rust part failed")


def _make(tree: Tree) -> None:
    jobs = len(os.sched_getaffinity(0))
    print(f"building Linux {tree.version} (a few minutes the first time)", file=sys.stderr)
    with progress("building Linux") as watch:
        _run(["make", "ARCH=um", f"--jobs={jobs}", "linux"], tree.folder, "the build failed", watch)


def _install(tree: Tree, folder: Path, library: Library) -> None:
    """Keep the kernel under a name that says what made it; it is complete when its name appears."""
    begun = folder.with_suffix(f".{os.getpid()}")
    begun.mkdir(parents=True)
    shutil.copy(tree.folder / "linux", begun / kernel.IMAGE)
    config = (tree.folder / ".config").read_text(encoding="utf-8")
    image = (begun / kernel.IMAGE).read_bytes()
    about = {
        "version": tree.version,
        "sha256": hashlib.sha256(image).hexdigest(),
        "bytes": len(image),
        "source": tree.origin,
        "sources": kernel.sources(),
        "crate": library.crate,
        "compilers": _compilers().splitlines(),
        "built": datetime.datetime.now(tz=datetime.UTC).isoformat(timespec="seconds"),
        "controllers": ["reno", *_enabled(config, "TCP_CONG")],
        "queues": _enabled(config, "NET_SCH"),
    }
    writing.write_text(begun / kernel.ABOUT, json.dumps(about, indent=2))
    shutil.rmtree(folder, ignore_errors=True)
    begun.rename(folder)


def _enabled(config: str, kind: str) -> list[str]:
    found = re.findall(rf"^CONFIG_{kind}_(\w+)=y$", config, re.MULTILINE)
    # One option is not called as its algorithm is.
    names = {"hstcp": "highspeed"}
    return [names.get(each.lower(), each.lower()) for each in found if each != "ADVANCED"]


def _run(
    command: Sequence[str], folder: Path, failure: str, watch: Callable[[float], None] = lambda _: None
) -> None:
    """Run a command. Raises `CwndlabError` with its last lines if it fails."""
    lines: list[str] = []
    environment = {**os.environ, **REPRODUCIBLE}
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        for line in process.stdout or ():
            lines.append(line)
            watch(min(1.0, len(lines) / LINES))
    if process.returncode:
        last = "".join(lines[-20:])
        raise CwndlabError(f"the Linux backend: {failure} ({shlex.join(command[:3])}):\n{last}")


def main() -> None:
    """Build the kernel and say where it is; with `--tested`, only say whether there was one to test."""
    if sys.argv[1:] == ["--tested"]:
        found = kernel.current()
        tested = (
            "not built, so its tests were skipped (make linux)"
            if found is None
            else f"tested with {found.version}"
        )
        print(f"== the Linux backend: {tested}")
        return
    try:
        found = build()
    except CwndlabError as error:
        sys.exit(f"error: {error}")
    print(f"Linux {found.version} in {found.folder}")


if __name__ == "__main__":
    main()
