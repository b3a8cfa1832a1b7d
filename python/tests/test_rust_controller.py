"""A Rust controller in a crate of its own: the template, built as a user builds it but unoptimised."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

import cwndlab as cl
from cwndlab import engine
from cwndlab.engine import selection
from cwndlab.errors import BackendWarning
from cwndlab.linux import choice, kernel
from cwndlab.linux.crate import Crate
from cwndlab.linux.kernel import Kernel
from tests.conftest import Command
from tests.documents import ROOT

TEMPLATE = ROOT / "templates" / "rust-controller"
QUICK = ("--seeds", "2", "--no-figure")


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the package `gentle` is."""
    if shutil.which("cargo") is None:
        pytest.skip("cargo is missing")
    # The profile of the tests: what `cargo test` has built is used again.
    build = ["cargo", "build", "--profile", "test", "--locked", "--features", "extension-module"]
    build += ["--package", "gentle", "--message-format", "json"]
    answer = subprocess.run(build, cwd=TEMPLATE, capture_output=True, text=True, timeout=900, check=False)
    assert answer.returncode == 0, answer.stderr
    built = [json.loads(line) for line in answer.stdout.splitlines()]
    [library] = [
        each["filenames"][0]
        for each in built
        if each["reason"] == "compiler-artifact" and each["manifest_path"] == str(TEMPLATE / "Cargo.toml")
    ]
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(TEMPLATE / "python" / "gentle", folder / "gentle")
    shutil.copy(library, folder / "gentle" / "_native.abi3.so")
    return folder


def beside(package: Path) -> str:
    """The path that finds the package, and the cwndlab of these tests."""
    return os.pathsep.join([str(package), str(ROOT / "python")])


def test_it_is_used_like_any_algorithm(cwndlab: Command, scenario: Path, package: Path) -> None:
    path = {"PYTHONPATH": beside(package)}
    listed = cwndlab("list", "algorithms", "--with", "gentle", **path)
    line = r"^ +gentle +Reno that keeps 0\.8 of its window on a loss$"
    assert re.search(line, listed.stdout, re.MULTILINE), listed.stderr
    compared = (
        "compare",
        scenario.name,
        "--cc",
        "reno,gentle,{ name = 'gentle', keep = 0.5 }",
        "--with",
        "gentle",
    )
    answer = cwndlab(*compared, *QUICK, "--json", "--out", "out", **path)
    assert "6 new runs, 0 reused" in answer.stderr
    reno, gentle, half = json.loads(answer.stdout)["variants"]
    # With half of the window it is Reno.
    assert half["total"] == reno["total"] != gentle["total"]
    assert "--with gentle" in (cwndlab.folder / "out" / "report.html").read_text()
    assert "0 new runs, 6 reused" in cwndlab(*compared, *QUICK, **path).stderr


@pytest.fixture
def without(linux_kernel: Kernel, tmp_path: Path) -> dict[str, str]:
    """The environment of a user who has not built a kernel with the crate in it."""
    kernels = tmp_path / "without" / "kernels"
    kernels.mkdir(parents=True)
    (kernels / linux_kernel.folder.name).symlink_to(linux_kernel.folder)
    return {"CWNDLAB_LINUX": str(kernels.parent)}


def build_with(cwndlab: Command, crate: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """`cwndlab linux --with CRATE`, which may take as long as a build."""
    return subprocess.run(
        cwndlab.line("linux", "--with", crate),
        cwd=cwndlab.folder,
        env=cwndlab.environment(**environment),
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


@pytest.fixture
def inside(cwndlab: Command, linux_kernel: Kernel) -> dict[str, str]:
    """The environment of one who has: the first time, this builds one."""
    assert linux_kernel.image.exists()
    environment = {"CWNDLAB_LINUX": str(kernel.folder())}
    answer = build_with(cwndlab, str(TEMPLATE), environment)
    assert f"crate        {TEMPLATE}, for gentle._native" in answer.stdout, answer.stderr
    return environment


def test_it_drives_linux_by_messages_and_inside_the_kernel(
    cwndlab: Command, scenario: Path, package: Path, without: dict[str, str], inside: dict[str, str]
) -> None:
    compared = ("compare", scenario.name, "--cc", "reno,gentle,{ name = 'gentle', keep = 0.5 }")
    options = ("--with", "gentle", "--backend", "linux", *QUICK, "--json")
    slower = "it is not in the kernel, so its controllers answer Linux by messages"
    variants = []
    for environment, slow in ((without, True), (inside, False)):
        answer = cwndlab(*compared, *options, PYTHONPATH=beside(package), **environment)
        assert answer.returncode == 0, answer.stderr
        # Another kernel made them: none is reused.
        assert "6 new runs, 0 reused" in answer.stderr
        assert (slower in answer.stderr, "cwndlab linux --with" in answer.stderr) == (slow, slow)
        variants.append(json.loads(answer.stdout)["variants"])
    reno, gentle, half = variants[0]
    assert half["total"] == reno["total"] != gentle["total"]
    assert variants[0] == variants[1]


def test_its_queue_runs_inside_the_kernel_only(
    cwndlab: Command, scenario: Path, package: Path, without: dict[str, str], inside: dict[str, str]
) -> None:
    run = ("run", scenario.name, "--set", "link.0.queue={ kind = 'coin', target = '1 ms', odds = 0.2 }")
    options = ("--with", "gentle", "--backend", "linux", *QUICK, "--json")
    refused = cwndlab(*run, *options, PYTHONPATH=beside(package), **without)
    assert refused.returncode == 2
    assert re.search(r"link\.0\.queue.*`coin` .*cwndlab linux --with CRATE", refused.stderr), refused.stderr
    answer = cwndlab(*run, *options, PYTHONPATH=beside(package), **inside)
    assert answer.returncode == 0, answer.stderr
    usual = cwndlab("run", scenario.name, *options, PYTHONPATH=beside(package), **inside)
    coin, droptail = (json.loads(each.stdout)["links"][0] for each in (answer, usual))
    assert coin["queue_delay_ms"]["mean"] < droptail["queue_delay_ms"]["mean"]


EPISODE = """
import json, sys
import gentle
from cwndlab.gym import FlowEnv
settings = {"flow.a.cc.decide": "ack", "flow.b.cc": "gentle", "link.0.queue": sys.argv[2]}
env = FlowEnv("cwndlab/Window-v0", scenario=sys.argv[1], flow="a", overrides=settings, backend="linux")
env.reset(seed=1)
while not any(env.step(3)[2:4]):
    pass
print(json.dumps(env.outcome()))
"""


def test_an_environment_in_linux_has_it_by_messages_and_inside_the_kernel(
    cwndlab: Command, scenario: Path, package: Path, without: dict[str, str], inside: dict[str, str]
) -> None:
    def episode(queue: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", EPISODE, str(scenario), queue],
            env=cwndlab.environment(PYTHONPATH=beside(package), **environment),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    droptail, coin = "20 packets", "{ kind = 'coin', target = '1 ms', odds = 0.2 }"
    messages, linked = episode(droptail, without), episode(droptail, inside)
    slower = "its controllers answer Linux by messages"
    assert (slower in messages.stderr, slower in linked.stderr) == (True, False)
    assert json.loads(messages.stdout) == json.loads(linked.stdout)
    assert "cwndlab linux --with CRATE" in episode(coin, without).stderr
    assert json.loads(episode(coin, inside).stdout) != json.loads(linked.stdout)


def own_crate(folder: Path, replaced: dict[str, str]) -> Path:
    """A copy of the template beside no clone, in which each of these texts is replaced."""
    shutil.copytree(TEMPLATE, folder, ignore=shutil.ignore_patterns("python", "target"))
    manifest = folder / "Cargo.toml"
    manifest.write_text(manifest.read_text().replace("../../crates", str(ROOT / "crates")))
    for name in ("Cargo.toml", "src/lib.rs"):
        text = (folder / name).read_text()
        for old, new in replaced.items():
            text = text.replace(old, new)
        (folder / name).write_text(text)
    return folder


def test_what_the_compiler_says_about_a_crate_is_shown(cwndlab: Command, inside: dict[str, str]) -> None:
    own_crate(cwndlab.folder / "mine", {"* self.keep) as u64": "* self.keep)"})
    answer = build_with(cwndlab, "mine", inside)
    assert answer.returncode == 1
    said = r"error: --with .*mine: cannot be compiled:\nerror\[E0308\]: mismatched types\n.*src/lib.rs:"
    assert re.search(said, answer.stderr), answer.stderr


@pytest.mark.parametrize(
    ("replaced", "message"),
    [
        ({', "rlib"]': "]"}, r'lib\.crate-type: expected "rlib" besides "cdylib", found cdylib'),
        ({'"python"': '"nonsense"'}, "nonsense"),
    ],
)
def test_a_crate_that_cannot_be_linked_is_refused(
    tmp_path: Path, replaced: dict[str, str], message: str
) -> None:
    crate = own_crate(tmp_path / "mine", replaced)
    with pytest.raises(cl.InputError, match=message):
        Crate.at(str(crate))


def test_a_folder_without_a_crate_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        cl.InputError, match=r"--with .*: expected the folder of a crate .*, found none there"
    ):
        Crate.at(str(tmp_path))


def test_a_crate_of_another_clone_is_refused(tmp_path: Path) -> None:
    crate = own_crate(tmp_path / "mine", {})
    other = tmp_path / "clone" / "cc"
    shutil.copytree(ROOT / "crates" / "learn", tmp_path / "clone" / "learn")
    other.mkdir()
    (other / "src").mkdir()
    (other / "src" / "lib.rs").touch()
    (other / "Cargo.toml").write_text('[package]\nname = "cwndlab-cc"\n')
    manifest = crate / "Cargo.toml"
    manifest.write_text(manifest.read_text().replace(str(ROOT / "crates" / "cc"), str(other)))
    with pytest.raises(cl.InputError, match=r"cwndlab-cc: expected one of .*crates, found .*clone/cc"):
        Crate.at(str(crate))


def test_a_kernel_stands_for_a_module_while_nothing_has_changed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    source, module = tmp_path / "lib.rs", ModuleType("gentle._native")
    source.write_text("fn extension() {}")
    module.__file__ = str(tmp_path / "_native.so")
    Path(module.__file__).touch()
    about = {
        "module": module.__name__,
        "folder": "/a/gentle",
        "files": [str(source)],
        "sources": kernel.digest([(str(source), source)]),
    }
    with_it, plain = Kernel(tmp_path, {"crate": about}), Kernel(tmp_path, {})
    monkeypatch.setattr(kernel, "of_these_sources", lambda: [with_it, plain])
    mine, other = engine.Engine(module), engine.Engine(ModuleType("other._native"))
    assert choice.for_runs(mine) is with_it
    assert choice.with_crate_of(other) is None
    os.utime(source, (time.time() + 9, time.time() + 9))
    with pytest.warns(BackendWarning, match=r"gentle\._native is older than its sources"):
        assert choice.for_runs(mine) is plain
    source.write_text("fn extension() { 1 }")
    with pytest.warns(BackendWarning, match=r"it has changed since .* run: cwndlab linux --with /a/gentle"):
        assert choice.for_runs(mine) is plain


def test_controllers_in_python_stand_beside_it(cwndlab: Command, scenario: Path, package: Path) -> None:
    template = str(ROOT / "templates" / "python_controller.py")
    both = ("--set", "flow.a.cc=gentle", "--set", "flow.b.cc=my-aimd")
    for order in (("--with", "gentle", "--with", template), ("--with", template, "--with", "gentle")):
        answer = cwndlab("run", scenario.name, *both, *order, *QUICK, PYTHONPATH=beside(package))
        assert answer.returncode == 0, answer.stderr


def test_a_package_that_is_not_there_is_told(cwndlab: Command, scenario: Path) -> None:
    answer = cwndlab("run", scenario.name, "--with", "gentel")
    assert (answer.returncode, "no such package is installed" in answer.stderr) == (2, True)


def test_a_module_of_another_version_is_refused() -> None:
    with pytest.raises(cl.InputError, match=r"gentle\._native: lacks .*run_seed.*; rebuild it"):
        engine.use(ModuleType("gentle._native"))


def test_one_module_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "_in_use", engine.Engine(ModuleType("first._native")))
    with pytest.raises(cl.InputError, match=r"first\._native is already in use; put the algorithms"):
        engine.use(ModuleType("second._native"))
