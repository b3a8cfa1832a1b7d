"""The simulator: what `crates/py` offers. All strings returned are JSON."""

from typing import Any, Literal, TypedDict

from numpy import bool_, float32, float64, uint32
from numpy.typing import NDArray

Column = NDArray[float64]
Counts = NDArray[uint32]

# One value an interval, NaN where the flow did not run: `goodput_mbps`, `cwnd_segments`, `loss_events`,
# then the probes of its algorithm at the end of the interval.
FlowIntervals = dict[str, Column]

class GroupIntervals(TypedDict):
    """One value an interval; NaN before the group's start."""

    goodput_mbps: Column

# Kind, name, measure, the middle of each bucket that is not empty in ms, and how many times lie in it.
Distribution = tuple[
    Literal["flow", "subflow", "link", "group"],
    str,
    Literal["rtt_ms", "queue_delay_ms", "completion_ms"],
    Column,
    Counts,
]

class Detail(TypedDict):
    """What every run keeps beside its measures.

    `end_s` has the ends of the intervals, and `jain` Jain's index of each second after the warm-up: (end_s,
    jain), NaN where it is not defined.
    """

    end_s: Column
    flows: list[tuple[str, FlowIntervals]]
    subflows: list[tuple[str, FlowIntervals]]
    groups: list[tuple[str, GroupIntervals]]
    jain: tuple[Column, Column]
    distributions: list[Distribution]
    # What learning flows had learned at the end: name, and a safetensors file.
    weights: list[tuple[str, bytes]]

class RunToken:
    """A handle on one running seed, safe to use from any thread."""

    def __init__(self) -> None: ...
    def cancel(self) -> None: ...
    @property
    def progress(self) -> float: ...

class Setup:
    """What a controller is told when it is made, once for each flow."""

    @property
    def mss_bytes(self) -> int:
        """Payload of a full segment."""
    @property
    def initial_window_bytes(self) -> int: ...
    @property
    def initial_ssthresh_bytes(self) -> int | None:
        """Where the first slow start ends; None for nowhere."""
    @property
    def paced(self) -> bool:
        """Whether the transport is to pace its sending."""
    @property
    def random(self) -> Random:
        """The flow's own random stream, to be drawn from in callbacks."""

class Random:
    """A flow's own random stream: equal for equal seeds, whatever else runs."""

    def uniform(self) -> float:
        """Draw from [0, 1)."""
    def below(self, n: int) -> int:
        """Draw a whole number from 0 to n - 1."""
    def exponential(self) -> float:
        """Draw from the exponential distribution with mean 1."""

class Facts:
    """What holds at a callback."""

    @property
    def now_s(self) -> float:
        """Simulated time since the start of the run."""
    @property
    def mss_bytes(self) -> int:
        """Payload of a full segment."""
    @property
    def srtt_s(self) -> float:
        """SRTT (RFC 6298); this and the other RTTs are 0 until the first sample."""
    @property
    def rttvar_s(self) -> float:
        """RTTVAR (RFC 6298)."""
    @property
    def min_rtt_s(self) -> float:
        """Smallest sample of the connection."""
    @property
    def latest_rtt_s(self) -> float:
        """Latest sample."""
    @property
    def rto_s(self) -> float:
        """The retransmission timeout, without back-off."""
    @property
    def in_flight_bytes(self) -> int:
        """Bytes in flight ("pipe", RFC 6675) after what is being reported."""
    @property
    def flight_size_bytes(self) -> int:
        """FlightSize (RFC 5681) before what is being reported."""
    @property
    def phase(self) -> Literal["open", "disorder", "recovery", "loss"]:
        """State of loss recovery; in `on_event` the one before the event."""
    @property
    def limited_by(self) -> Literal["window", "application", "receiver"]:
        """What held the last send back."""
    @property
    def window_limited(self) -> bool:
        """Whether the window was the limit in the last round (else it must not grow, RFC 7661)."""

class Ack(Facts):
    """One acknowledgement."""

    @property
    def acked_bytes(self) -> int:
        """Bytes newly delivered, by acknowledgement or SACK; each counts once."""
    @property
    def advanced_bytes(self) -> int:
        """Bytes by which the cumulative acknowledgement advanced."""
    @property
    def lost_bytes(self) -> int:
        """Bytes newly marked lost."""
    @property
    def ce_bytes(self) -> int:
        """Of `acked_bytes`, those that arrived with a congestion mark."""
    @property
    def prior_in_flight_bytes(self) -> int:
        """Bytes in flight before this ACK."""
    @property
    def delivered_bytes(self) -> int:
        """Bytes delivered in all."""
    @property
    def rtt_s(self) -> float | None:
        """RTT of the newest packet acknowledged; None if only retransmitted data were."""
    @property
    def delayed(self) -> bool:
        """Whether the receiver held this ACK back."""
    @property
    def tail_probe(self) -> bool:
        """Whether it acknowledges a tail-loss probe."""
    @property
    def sample(self) -> RateSample | None:
        """Delivery-rate sample; None when there is no valid one."""

class RateSample:
    """A delivery-rate sample (draft-ietf-ccwg-bbr section 4.1)."""

    @property
    def rate_bps(self) -> int:
        """The rate in bit/s; 0 when the interval is empty."""
    @property
    def delivered_bytes(self) -> int:
        """Bytes delivered between the packet's sending and its acknowledgement."""
    @property
    def interval_s(self) -> float:
        """The time that took."""
    @property
    def prior_delivered_bytes(self) -> int:
        """Bytes delivered in all when the packet was sent."""
    @property
    def lost_bytes(self) -> int:
        """Bytes marked lost in the same time."""
    @property
    def ce_bytes(self) -> int:
        """Bytes marked CE in the same time."""
    @property
    def in_flight_at_send_bytes(self) -> int:
        """Bytes in flight when the packet was sent, itself included."""
    @property
    def app_limited(self) -> bool:
        """Whether the application, not the network, limited the rate."""

class Event(Facts):
    """Something that happens at most once a round trip."""

    @property
    def kind(
        self,
    ) -> Literal["loss-recovery", "ecn-reduction", "recovered", "timeout", "undo", "idle-restart"]: ...
    @property
    def idle_s(self) -> float | None:
        """How long the silence was before an idle-restart; None of other events."""

class Sent(Facts):
    """Data that have just been sent."""

    @property
    def sent_bytes(self) -> int:
        """Their payload, new or again."""

class Lost(Facts):
    """A packet that has just been marked lost, with what was noted when it was sent."""

    @property
    def lost_bytes(self) -> int:
        """Its payload."""
    @property
    def in_flight_at_send_bytes(self) -> int:
        """Bytes in flight when it was sent, itself included."""
    @property
    def prior_delivered_bytes(self) -> int:
        """Bytes delivered in all when it was sent."""
    @property
    def prior_lost_bytes(self) -> int:
        """Bytes lost in all when it was sent."""
    @property
    def lost_total_bytes(self) -> int:
        """Bytes lost in all now, this packet included."""
    @property
    def app_limited(self) -> bool:
        """Whether the application, not the network, limited the rate when it was sent."""

def register(declaration: object) -> None: ...
def check(text: bytes, file: str, overrides: list[tuple[str, str]]) -> str: ...
def resolve(text: bytes, file: str, overrides: list[tuple[str, str]]) -> str: ...
def components(text: bytes, file: str, overrides: list[tuple[str, str]]) -> str: ...
def toml_lines(text: str) -> str: ...
def run_seed(
    text: bytes,
    file: str,
    overrides: list[tuple[str, str]],
    seed: int,
    record: bool,
    token: RunToken,
) -> tuple[str, Detail, dict[str, Any] | None]: ...
def catalogue() -> str: ...
def trace(name: str) -> str: ...
def nearest(word: str, known: list[str]) -> list[str]:
    """The known words that were most likely meant by one that is not: all that are equally near."""

# The longest file of weights that is read.
WEIGHTS_BYTES: int

def bench_cases() -> list[str]: ...
def bench(case: str, repeats: int, overrides: list[tuple[str, str]]) -> str: ...

# What an agent sees and is told: observation, reward, terminated, truncated, info.
Turn = tuple[NDArray[float32], float, bool, bool, dict[str, Any]]

# An environment, a scenario (text, file, flows that are steered) or a number of flows, and overrides.
CourseArguments = tuple[str, tuple[bytes, str, list[str]] | None, int, list[tuple[str, str]]]

class EnvironmentCourse:
    """What episodes are made from. It never changes."""

    def __init__(self, arguments: CourseArguments, controllers: list[tuple[str, str]]) -> None: ...
    @property
    def arguments(self) -> CourseArguments:
        """What it was made with."""
    @property
    def hashes(self) -> list[tuple[str, str]]:
        """The files that its scenario names and its controllers, with hashes of what they were."""
    @property
    def agents(self) -> list[str]:
        """Names of the flows that agents steer."""
    @property
    def spaces(self) -> tuple[int, int]:
        """Length of the observation and number of actions."""
    @property
    def inputs(self) -> str | None:
        """What an agent sees, as a file of weights has it; None where it changes all the time."""
    def link(self, seed: int) -> list[tuple[str, float]]:
        """The link of the episode with this seed, by name: what was drawn, or is set over it."""
    def with_algorithm(self, seed: int, algorithm: str) -> str:
        """Measures of the episode with another algorithm in the place of the agents."""

# The seed of the episodes and how many it has drawn; the last one's seed, actions and observation.
Standing = tuple[int, int, int, tuple[bytes, list[float]] | None]

class Episodes:
    """One environment, for one agent or several."""

    def __init__(self, course: EnvironmentCourse) -> None: ...
    @property
    def course(self) -> EnvironmentCourse: ...
    @property
    def standing(self) -> Standing: ...
    def go_to(self, there: Standing) -> None:
        """Go where another one of the same course stood, by playing its episode again."""
    def reset(self, seed: int | None) -> Turn: ...
    def step(self, action: int) -> Turn: ...
    def last(self, agent: int) -> Turn:
        """What one of several agents sees at the end of the episode."""
    @property
    def turn(self) -> int:
        """Whose turn it is, by the place among the agents."""
    @property
    def seed(self) -> int:
        """The seed of the episode."""
    @property
    def link(self) -> list[tuple[str, float]]:
        """The link of the episode, by name."""
    def finish(self) -> str:
        """End the episode and give its measures."""

class EpisodeFleet:
    """Many environments that step together."""

    def __init__(self, course: EnvironmentCourse, count: int, threads: int | None) -> None: ...
    @property
    def course(self) -> EnvironmentCourse: ...
    @property
    def threads(self) -> int | None: ...
    @property
    def standing(self) -> list[Standing]: ...
    def go_to(self, there: list[Standing]) -> None:
        """Let each go where one of another fleet of the same course stood."""
    def reset(self, seeds: list[int | None]) -> Turns: ...
    def step(self, actions: NDArray[uint32]) -> Turns: ...

Turns = tuple[NDArray[float32], NDArray[float64], NDArray[bool_], NDArray[bool_], dict[str, Any]]

class Trainer:
    """A DQN that learns in an environment."""

    def __init__(self, course: EnvironmentCourse, seed: int, given: bytes | None) -> None: ...
    @staticmethod
    def resumed(course: EnvironmentCourse, seed: int, checkpoint: bytes) -> Trainer:
        """A trainer that goes on from a checkpoint."""
    @property
    def decisions(self) -> int:
        """Decisions that were learned from, before the checkpoint and since."""
    def train(self, decisions: int) -> list[tuple[int, int, float]]:
        """Make so many decisions; seed, decisions and mean reward of each episode that ended."""
    def weights(self) -> bytes:
        """What was learned so far, as a safetensors file."""
    def checkpoint(self) -> bytes:
        """What another trainer can go on from, as a safetensors file."""

class Policy:
    """A network that plays: the action that it values most."""

    def __init__(self, file: bytes) -> None: ...
    @property
    def inputs(self) -> str:
        """What the network takes in."""
    def __call__(self, observation: NDArray[float32]) -> int: ...
