"""Controllers in Python: what they are told, what they decide, and that their runs can be repeated."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cwndlab as cl
import cwndlab.benchmark.reno
from cwndlab.engine import catalogue, in_use
from cwndlab.errors import InputError, RunFailedError
from tests.conftest import SCENARIO

_names = (f"tested-{number}" for number in itertools.count())


pytestmark = pytest.mark.usefixtures("own_cache")


class Fixed:
    """A window of ten segments, to be told otherwise."""

    def __init__(self, setup: cl.Setup) -> None:
        self.cwnd_bytes: Any = 10 * setup.mss_bytes

    def on_ack(self, ack: cl.Ack) -> None: ...
    def on_event(self, event: cl.Event) -> None: ...


def registered(cls: type) -> str:
    """Register a class under a name that no other test has."""
    name = next(_names)
    cl.controller(name)(cls)
    return name


def run(cc: str, seeds: int = 1, **options: Any) -> cl.Result:
    """Run the small scenario with this algorithm for flow a."""
    overrides = options.pop("overrides", {}) | {"flow.a.cc": cc}
    return cl.run(SCENARIO, seeds=seeds, overrides=overrides, record="none", **options)


def outcomes(result: cl.Result) -> list[str]:
    """What was measured, without the name of the algorithm."""
    texts = [json.dumps(run.outcome, sort_keys=True) for run in result.runs]
    return [text.replace('"python-reno"', '"reno"') for text in texts]


HARD_PATHS = {
    "losses in bursts": {
        "link.0.loss": "{ kind = 'gilbert-elliott', to_bad = 0.02, to_good = 0.3, loss_bad = 0.5 }"
    },
    "timeouts": {"link.0.loss": 0.15},
    "reordering, undone": {"link.0.reorder": "{ probability = 0.02, delay = '30 ms' }", "link.0.loss": 0},
    "marks": {"link.0.queue": "{ kind = 'codel', ecn = true }", "tcp.ecn": "true"},
}


@pytest.mark.parametrize("changes", HARD_PATHS.values(), ids=HARD_PATHS)
def test_reno_in_python_is_reno_to_the_bit(changes: dict[str, Any]) -> None:
    overrides = {"duration": "20 s", **changes}
    ours = run("python-reno", 2, overrides=overrides)
    assert outcomes(ours) == outcomes(run("reno", 2, overrides=overrides))


def test_reno_in_python_decays_after_a_silence() -> None:
    """No scenario has pauses, so this rule is held alone (RFC 2861)."""
    reno = object.__new__(cwndlab.benchmark.reno.Reno)
    reno.initial_window_bytes, reno.cwnd_bytes, reno.ssthresh_bytes = 10_000, 80_000, None
    reno._decay(idle_s=2.5, rto_s=1.0)
    assert (reno.cwnd_bytes, reno.ssthresh_bytes) == (20_000, None)
    reno.ssthresh_bytes = 8_000
    reno._decay(idle_s=9.0, rto_s=1.0)
    assert (reno.cwnd_bytes, reno.ssthresh_bytes) == (10_000, 15_000)


def test_runs_are_equal_with_any_number_of_threads() -> None:
    class Random(Fixed):
        def __init__(self, setup: cl.Setup) -> None:
            super().__init__(setup)
            self.random = setup.random

        def on_ack(self, ack: cl.Ack) -> None:
            self.cwnd_bytes = (2 + self.random.below(50)) * ack.mss_bytes

    cc = registered(Random)
    one = outcomes(run(cc, 6, threads=1, fresh=True))
    assert outcomes(run(cc, 6, threads=4, fresh=True)) == one
    assert len(set(one)) == 6


def test_the_random_stream_is_the_flows_own_and_there_in_callbacks_only() -> None:
    drawn: dict[tuple[str, int], list[float]] = {}

    def drawing(flow: str, seed: int) -> type:
        class Drawing(Fixed):
            def __init__(self, setup: cl.Setup) -> None:
                super().__init__(setup)
                self.random = setup.random
                with pytest.raises(RuntimeError, match="during its callbacks"):
                    self.random.uniform()

            def on_ack(self, _ack: cl.Ack) -> None:
                drawn.setdefault((flow, seed), []).append(self.random.uniform())

        return Drawing

    for flow, seed in [("a", 1), ("b", 1), ("a", 2)]:
        cl.run(SCENARIO, seeds=[seed], overrides={f"flow.{flow}.cc": registered(drawing(flow, seed))})
    first = [values[0] for values in drawn.values()]
    assert len(set(first)) == 3
    assert all(len(set(values)) == len(values) for values in drawn.values())
    assert all(0 <= value < 1 for values in drawn.values() for value in values)


def test_what_an_ack_tells() -> None:
    acks: list[cl.Ack] = []

    class Noting(Fixed):
        def on_ack(self, ack: cl.Ack) -> None:
            acks.append(ack)

    result = run(registered(Noting), overrides={"link.0.loss": 0, "flow.b.enabled": False})
    assert [ack.now_s for ack in acks] == sorted(ack.now_s for ack in acks)
    assert sum(ack.acked_bytes for ack in acks) == acks[-1].delivered_bytes
    last = acks[-1]
    assert (last.mss_bytes, last.phase, last.limited_by, last.window_limited) == (
        1448,
        "open",
        "window",
        True,
    )
    # 10 ms there and back; a window of ten packets waits 1.2 ms for each.
    assert 0.02 <= last.min_rtt_s <= last.srtt_s < 0.04
    assert last.rtt_s == last.latest_rtt_s
    assert last.sample is not None
    goodput_mbps = result.flows["goodput_mbps"][0]
    assert last.sample.rate_bps / 1e6 == pytest.approx(goodput_mbps, rel=0.1)
    assert last.sample.rate_bps == int(8 * last.sample.delivered_bytes / last.sample.interval_s)


def test_losses_and_sending_are_told_to_whom_asks() -> None:
    sent, lost, events = [], [], []

    class Watching(Fixed):
        def on_sent(self, sending: cl.Sent) -> None:
            sent.append(sending.sent_bytes)

        def on_lost(self, loss: cl.Lost) -> None:
            lost.append(loss)

        def on_event(self, event: cl.Event) -> None:
            events.append(event.kind)

    result = run(registered(Watching), overrides={"link.0.loss": 0.02, "duration": "10 s"})
    assert sum(sent) / 1448 > 1000
    assert lost[-1].lost_total_bytes == sum(loss.lost_bytes for loss in lost)
    assert {"loss-recovery", "recovered"} <= set(events)
    assert events.count("loss-recovery") == result.runs[0].outcome["flows"][0]["fast_recoveries"]


def test_a_timer_is_called_when_it_was_asked_for() -> None:
    times = []

    class Ticking(Fixed):
        next_timer_s = 0.5

        def on_timer(self, facts: cl.Facts) -> None:
            times.append(facts.now_s)
            self.next_timer_s = facts.now_s + 0.25
            self.cwnd_bytes += facts.mss_bytes

    run(registered(Ticking))
    assert times == pytest.approx([0.5 + 0.25 * n for n in range(len(times))])
    assert len(times) == 7


def test_a_pacing_rate_is_kept() -> None:
    class Paced(Fixed):
        def __init__(self, setup: cl.Setup) -> None:
            self.cwnd_bytes = 100 * setup.mss_bytes
            self.pacing_rate_bps = 2e6

    after_start = {"link.0.loss": 0, "warmup": "0.5 s"}
    goodput_mbps = run(registered(Paced), overrides=after_start).flows["goodput_mbps"][0]
    assert goodput_mbps == pytest.approx(2, rel=0.02)


def test_probes_are_recorded() -> None:
    class Probed(Fixed):
        probes = ("acks", "unknown_yet")
        unknown_yet = None

        def __init__(self, setup: cl.Setup) -> None:
            super().__init__(setup)
            self.acks = 0

        def on_ack(self, _ack: cl.Ack) -> None:
            self.acks += 1

    result = cl.run(SCENARIO, seeds=1, overrides={"flow.a.cc": registered(Probed)})
    acks = result.series("acks")["acks"]
    assert acks.is_sorted()
    assert acks[-1] > 100


def test_parameters_come_from_the_scenario() -> None:
    made = []

    class Settable(Fixed):
        """A window of ten segments.

        It has parameters.
        """

        gain = cl.parameter(1.5, low=0, high=10, unit="segments", meaning="growth")
        count = cl.parameter(3)
        eager = cl.parameter(default=False)
        mode = cl.parameter("slow", words=["slow", "fast"])
        wait_s = cl.parameter(0.2, unit="s")

        def __init__(self, setup: cl.Setup) -> None:
            super().__init__(setup)
            made.append((self.gain, self.count, self.eager, self.mode, self.wait_s))

    name = registered(Settable)
    run(name)
    set_all = "gain = 2, count = 7, eager = true, mode = 'fast', wait_s = '50 ms'"
    result = run(f"{{ name = '{name}', {set_all} }}")
    assert made == [(1.5, 3, False, "slow", 0.2), (2.0, 7, True, "fast", 0.05)]
    settings = result.scenario.resolved["flow"][0]["cc"]
    assert (settings["gain"], settings["wait_s"]) == (2, "50 ms")
    kind, entry = catalogue.find(in_use(), name)
    assert (kind, entry["summary"]) == ("algorithm", "A window of ten segments")
    assert entry["params"][0] == {
        "name": "gain",
        "default": 1.5,
        "allowed": "a number from 0 to 10",
        "unit": "segments",
        "meaning": "growth",
        "source": "its class",
    }


@pytest.mark.parametrize(
    ("setting", "complaint"),
    [
        ("gain = 11", "expected a number from 0 to 10"),
        ("gian = 1", "did you mean `gain`"),
        ("gain = true", "found"),
    ],
)
def test_a_wrong_setting_is_told_like_any_other(setting: str, complaint: str) -> None:
    class Settable(Fixed):
        gain = cl.parameter(1.5, low=0, high=10)

    with pytest.raises(cl.ScenarioError, match=complaint):
        run(f"{{ name = '{registered(Settable)}', {setting} }}")


def nonsense(value: Any) -> type[Fixed]:
    class Nonsense(Fixed):
        def on_ack(self, _ack: cl.Ack) -> None:
            self.cwnd_bytes = value

    return Nonsense


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), -1, -0.5, "14480", None, 1 << 70, [1], 1e30, True, np.bool_(True)]
)
def test_a_window_that_is_none_is_told(value: Any) -> None:
    line = nonsense(value).on_ack.__code__.co_firstlineno
    with pytest.raises(RunFailedError) as told:
        run(registered(nonsense(value)))
    text = str(told.value)
    assert f"test_controllers.py:{line}: tested-" in text
    assert ".on_ack: self.cwnd_bytes: " in text
    assert "expected a finite number from 0 to 1.84e19, found " in text


def test_an_exception_is_told_with_the_users_line() -> None:
    class Failing(Fixed):
        def on_event(self, event: cl.Event) -> None:
            self.cwnd_bytes = event.mss_bytes / 0  # the line

    with pytest.raises(RunFailedError) as told:
        run(registered(Failing), overrides={"duration": "10 s", "link.0.loss": 0.05})
    line = Failing.on_event.__code__.co_firstlineno + 1
    assert f"test_controllers.py:{line}: tested-" in str(told.value)
    assert str(told.value).startswith("seed 1 (")
    assert ".on_event: ZeroDivisionError: division by zero\n    self.cwnd_bytes = event.mss_bytes / 0" in str(
        told.value
    )


METHODS: dict[str, tuple[Callable[..., Any], str]] = {
    "a library fails": (lambda _self, _ack: json.loads("{"), "JSONDecodeError"),
    "a result is returned": (lambda _self, _ack: 14480, "returned 14480; a controller decides by setting"),
    "an argument is missing": (lambda _self: None, "takes 1 positional argument but 2 were given"),
    "a field is misspelt": (lambda _self, ack: ack.acked, "'cwndlab.Ack' object has no attribute 'acked'"),
}


@pytest.mark.parametrize(("method", "complaint"), METHODS.values(), ids=METHODS)
def test_other_mistakes_are_told_where_they_are(method: Callable[..., Any], complaint: str) -> None:
    cls = type("Wrong", (Fixed,), {"on_ack": method})
    with pytest.raises(RunFailedError) as told:
        run(registered(cls))
    assert complaint in str(told.value)
    assert "test_controllers.py:" in str(told.value)
    assert "/cwndlab/" not in str(told.value)


def test_a_timer_of_the_past_would_never_end() -> None:
    class Stuck(Fixed):
        next_timer_s = 0.5

        def on_timer(self, facts: cl.Facts) -> None: ...

    with pytest.raises(RunFailedError, match=r"on_timer: self\.next_timer_s must be later than now_s"):
        run(registered(Stuck))


def test_a_timer_without_its_method() -> None:
    class Timed(Fixed):
        def on_ack(self, ack: cl.Ack) -> None:
            self.next_timer_s = ack.now_s + 0.1

    cls = registered(Timed)
    with pytest.raises(
        RunFailedError, match=r"on_ack: next_timer_s is set, but the class has no on_timer"
    ) as told:
        run(cls)
    assert "self.next_timer_s = ack.now_s + 0.1" in str(told.value)

    class Waits(Timed):
        def on_timer(self, facts: cl.Facts) -> None:
            self.next_timer_s = facts.now_s + 1

    assert run(registered(Waits))

    class Never(Fixed):
        def on_ack(self, _ack: cl.Ack) -> None:
            self.next_timer_s = None

    assert run(registered(Never))


def wrong(**attributes: Any) -> type:
    return type("Wrong", (Fixed,), attributes)


@pytest.mark.parametrize(
    ("name", "cls", "complaint"),
    [
        ("reno", Fixed, "an algorithm that ships has this name"),
        ("my cc", Fixed, "expected a name of letters"),
        ("wrong-1", 3, "expected a class, found 3"),
        ("wrong-2", wrong(on_ack=None), "no method on_ack"),
        ("wrong-3", wrong(on_acks=print), "nothing calls on_acks; did you mean on_ack"),
        ("wrong-4", wrong(ecn="ect2"), "expected one of as-configured, ect0, ect1"),
        ("wrong-5", wrong(probes="cwnd_bytes"), "expected names of attributes"),
        ("wrong-7", wrong(probes=5), "expected names of attributes"),
        (
            "wrong-8",
            wrong(own_window_in_recovery="no"),
            "own_window_in_recovery: expected True or False, found",
        ),
        ("wrong-9", wrong(bounded=5), "bounded: expected True or False, found 5"),
        ("wrong-10", wrong(next_timer_s="x"), "next_timer_s: expected a number, found 'x'"),
        ("wrong-11", wrong(next_timer_s=1.0), "next_timer_s: expected a method on_timer with it, found none"),
        ("wrong-12", wrong(pacing_rate_bps=True), "pacing_rate_bps: expected a number, found True"),
        ("wrong-6", type("Bare", (), {"on_ack": print, "on_event": print}), "no __init__"),
    ],
)
def test_a_wrong_class_is_refused(name: str, cls: Any, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        cl.controller(name)(cls)


def test_wrong_parameters_are_refused() -> None:
    for default, options in [
        (11, {"high": 10}),
        (float("nan"), {}),
        ("fast", {"words": ["slow"]}),
        (True, {"low": 0}),
        (1.0, {"words": ["a"]}),
        (None, {}),
        (1, {"low": -1}),
        (float("inf"), {}),
        (10**30, {}),
        (10**400, {"unit": "s"}),
        (1.0, {"unit": 5}),
        (1.0, {"meaning": 5}),
        (1.0, {"low": "a"}),
        (1.0, {"high": True}),
        ("a", {"words": "abc"}),
        ("a", {"words": 5}),
    ]:
        with pytest.raises(InputError, match=r"parameter\("):
            cl.parameter(default, **options)  # type: ignore[arg-type,type-var]
    with pytest.raises(
        InputError, match=r"^parameter\('abc'\): a text default needs words=\[...\], found none"
    ):
        cl.parameter("abc")
    for name in ("name", "cwnd_bytes", "next_timer_s", "ecn", "bounded"):
        with pytest.raises(InputError, match=f"parameter '{name}': this name is taken"):
            cl.controller("wrong-name")(wrong(**{name: cl.parameter(1.0)}))


def test_a_property_may_pace() -> None:
    assert run(registered(wrong(pacing_rate_bps=property(lambda _: 8e6))))


def test_a_parameter_may_have_the_words_of_an_agent_outside() -> None:
    policy = cl.parameter("outside", words=["outside", "inside"])
    assert run(registered(wrong(policy=policy)))


def test_the_decorator_takes_texts() -> None:
    for options in ({"source": 5}, {"departures": "one"}, {"departures": 5}):
        with pytest.raises(InputError, match=r"^controller 'wrong-text': [a-z]+: expected a "):
            cl.controller("wrong-text", **options)(Fixed)


def test_each_arriving_flow_has_a_controller_of_its_own() -> None:
    made = []

    class Counting(Fixed):
        def __init__(self, setup: cl.Setup) -> None:
            super().__init__(setup)
            made.append(self)

    arrivals = "{ per_second = 20, size = { kind = 'constant', mean = '30 kB' } }"
    result = run(registered(Counting), overrides={"flow.a.arrivals": arrivals})
    arrived = result.runs[0].outcome["groups"][0]["arrived"]
    assert arrived > 20
    assert len(set(map(id, made))) == len(made) >= arrived


def test_uncoupled_it_is_the_same_code() -> None:
    runs = [run(cc) for cc in ("python-reno", "uncoupled:python-reno")]
    assert runs[0].scenario.controllers == runs[1].scenario.controllers != []


def test_a_loaded_result_tells_its_command(tmp_path: Any) -> None:
    result = run("python-reno")
    result.save(tmp_path, figures=False)
    loaded = cl.load(tmp_path)
    assert "--with" in loaded.command
    assert loaded.command == result.command


def test_comparisons_and_sweeps_take_it() -> None:
    comparison = cl.compare(SCENARIO, ["reno", "python-reno"], flows=["a"], seeds=2)
    assert set(comparison.differences["difference"].drop_nulls()) == {0.0}
    assert f"--with {cwndlab.benchmark.reno.__file__}".split()[0] in comparison.command
    sweep = cl.sweep(SCENARIO, {"flow.a.cc": ["reno", "python-reno"]}, seeds=1)
    assert len(set(sweep.table["goodput_mbps"])) == 1
    assert "benchmark/reno.py" in sweep.command


def test_a_class_may_declare_that_its_window_is_bounded() -> None:
    class Bounded(Fixed):
        bounded = True

    def on_a_path_without_a_rate(cls: type) -> cl.Result:
        return run(registered(cls), overrides={"flow.a.reverse": True})

    assert on_a_path_without_a_rate(Bounded).flows.height
    with pytest.raises(InputError, match="its window would grow without end"):
        on_a_path_without_a_rate(Fixed)


def test_a_controller_is_described_by_what_its_class_declares() -> None:
    class Declaring(Fixed):
        probes = ("cwnd_bytes",)
        ecn = "ect1"
        own_window_in_recovery = True

    _, entry = catalogue.find(in_use(), registered(Declaring))
    declared = {
        key: entry[key] for key in ("probes", "ecn", "own_window_in_recovery", "bounded", "actions_len")
    }
    assert declared == {
        "probes": ["cwnd_bytes"],
        "ecn": "ect1",
        "own_window_in_recovery": True,
        "bounded": False,
        "actions_len": None,
    }
