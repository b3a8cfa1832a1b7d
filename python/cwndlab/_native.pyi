"""The simulator, from `crates/py`. All returned strings are JSON."""

from collections.abc import Callable
from typing import Any, Literal, TypedDict

from numpy import bool_, float32, float64, uint32
from numpy.typing import NDArray

Column = NDArray[float64]
Counts = NDArray[uint32]

# One value per interval, NaN where the flow did not run: `goodput_mbps`, `cwnd_segments`, `loss_events`,
# then the probes of its algorithm at the end of the interval.
FlowIntervals = dict[str, Column]

class GroupIntervals(TypedDict):
    """One value per interval, NaN before the group's start."""

    goodput_mbps: Column

# Kind, name, measure, the middles of the buckets that are not empty in ms, and their counts.
Distribution = tuple[
    Literal["flow", "subflow", "link", "group"],
    str,
    Literal["rtt_ms", "queue_delay_ms", "completion_ms"],
    Column,
    Counts,
]

class Detail(TypedDict):
    """The details of a run.

    `end_s` holds the ends of the intervals. `jain` holds Jain's index of each second after the warm-up, as
    (end_s, jain), with NaN where it is not defined.
    """

    end_s: Column
    flows: list[tuple[str, FlowIntervals]]
    subflows: list[tuple[str, FlowIntervals]]
    groups: list[tuple[str, GroupIntervals]]
    jain: tuple[Column, Column]
    distributions: list[Distribution]
    # The final weights of learning flows: name, and a safetensors file.
    weights: list[tuple[str, bytes]]

class RunToken:
    """A handle on one running seed, safe to use from any thread."""

    def __init__(self) -> None: ...
    def cancel(self) -> None: ...
    @property
    def cancelled(self) -> bool: ...
    def report(self, share: float) -> None: ...
    @property
    def progress(self) -> float: ...

class ControllerServer:
    """The controllers of this process that drive a kernel's sockets in one run."""

    def __init__(
        self, text: bytes, file: str, overrides: list[tuple[str, str]], linked: bool, seed: int
    ) -> None: ...
    def answer(self, message: bytes) -> bytes:
        """Answer a message. Raises `RuntimeError` if a controller breaks the run off."""

class Setup:
    """The arguments of a new controller, one for each flow."""

    @property
    def mss_bytes(self) -> int:
        """Payload of a full segment."""
    @property
    def initial_window_bytes(self) -> int: ...
    @property
    def initial_ssthresh_bytes(self) -> int | None:
        """The window at which the first slow start ends; None for no limit."""
    @property
    def paced(self) -> bool:
        """Whether the transport paces its sending."""
    @property
    def random(self) -> Random:
        """The flow's own random stream, for use in callbacks."""

class Random:
    """A flow's own random stream. It depends only on the seed and the flow, not on other flows."""

    def uniform(self) -> float:
        """Draw from [0, 1)."""
    def below(self, n: int) -> int:
        """Draw a whole number from 0 to n - 1."""
    def exponential(self) -> float:
        """Draw from the exponential distribution with mean 1."""

class Facts:
    """The state of the connection at a callback."""

    @property
    def now_s(self) -> float:
        """Simulated time since the start of the run."""
    @property
    def mss_bytes(self) -> int:
        """Payload of a full segment."""
    @property
    def srtt_s(self) -> float:
        """SRTT (RFC 6298). This and the other RTTs are 0 until the first sample."""
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
        """Bytes in flight ("pipe", RFC 6675) after the reported event."""
    @property
    def flight_size_bytes(self) -> int:
        """FlightSize (RFC 5681) after the ACK that brings the event, without what limited transmit sent."""
    @property
    def outstanding_bytes(self) -> int:
        """Bytes sent and not cumulatively acknowledged (SND.NXT - SND.UNA) after the reported event."""
    @property
    def phase(self) -> Literal["open", "disorder", "recovery", "loss"]:
        """State of loss recovery; in `on_event`, the state before the event."""
    @property
    def limited_by(self) -> Literal["window", "application", "receiver"]:
        """The limit that stopped the last sending."""
    @property
    def window_limited(self) -> bool:
        """Whether the window was the limit in the last round. If not, it must not grow (RFC 7661)."""

class Ack(Facts):
    """One acknowledgement."""

    @property
    def acked_bytes(self) -> int:
        """Bytes newly delivered, by acknowledgement or SACK. Each byte counts once."""
    @property
    def advanced_bytes(self) -> int:
        """Bytes by which the cumulative acknowledgement advanced."""
    @property
    def lost_bytes(self) -> int:
        """Bytes newly marked lost."""
    @property
    def ce_bytes(self) -> int:
        """The part of `acked_bytes` that arrived with a congestion mark."""
    @property
    def prior_in_flight_bytes(self) -> int:
        """Bytes in flight before this ACK."""
    @property
    def delivered_bytes(self) -> int:
        """Total bytes delivered."""
    @property
    def rtt_s(self) -> float | None:
        """RTT of the newest acknowledged packet; None if only retransmitted data were acknowledged."""
    @property
    def delayed(self) -> bool:
        """Whether the receiver delayed this ACK."""
    @property
    def tail_probe(self) -> bool:
        """Whether it acknowledges a tail-loss probe."""
    @property
    def unordered_growth(self) -> bool:
        """Whether it delivers out of order and the window grows all the same (Linux, on reordering paths)."""
    @property
    def sample(self) -> RateSample | None:
        """Delivery-rate sample; None if there is no valid one."""

class RateSample:
    """A delivery-rate sample (draft-ietf-ccwg-bbr section 4.1)."""

    @property
    def rate_bps(self) -> int:
        """The rate in bit/s; 0 if the interval is empty."""
    @property
    def delivered_bytes(self) -> int:
        """Bytes delivered between the packet's sending and its acknowledgement."""
    @property
    def interval_s(self) -> float:
        """Length of the interval of the sample."""
    @property
    def prior_delivered_bytes(self) -> int:
        """Total bytes delivered when the packet was sent."""
    @property
    def lost_bytes(self) -> int:
        """Bytes marked lost in the same interval."""
    @property
    def ce_bytes(self) -> int:
        """Bytes marked CE in the same interval."""
    @property
    def in_flight_at_send_bytes(self) -> int:
        """Bytes in flight when the packet was sent, including the packet."""
    @property
    def app_limited(self) -> bool:
        """Whether the application, not the network, limited the rate."""

class Event(Facts):
    """An event that happens at most once per round trip."""

    @property
    def kind(
        self,
    ) -> Literal["loss-recovery", "ecn-reduction", "recovered", "timeout", "undo", "idle-restart"]: ...
    @property
    def idle_s(self) -> float | None:
        """The idle time before an idle-restart; None for other events."""

class Sent(Facts):
    """Data that have just been sent."""

    @property
    def sent_bytes(self) -> int:
        """The payload, new or retransmitted."""

class Lost(Facts):
    """A packet that has just been marked lost, with the state when it was sent."""

    @property
    def lost_bytes(self) -> int:
        """The payload of the packet."""
    @property
    def in_flight_at_send_bytes(self) -> int:
        """Bytes in flight when it was sent, including the packet."""
    @property
    def prior_delivered_bytes(self) -> int:
        """Total bytes delivered when it was sent."""
    @property
    def prior_lost_bytes(self) -> int:
        """Total bytes lost when it was sent."""
    @property
    def lost_total_bytes(self) -> int:
        """Total bytes lost now, including this packet."""
    @property
    def app_limited(self) -> bool:
        """Whether the application, not the network, limited the rate when it was sent."""

def register(declaration: object) -> None: ...
def check(
    text: bytes,
    file: str,
    overrides: list[tuple[str, str]],
    backend: str = "sim",
    linked: bool = False,
) -> str: ...
def resolve(
    text: bytes,
    file: str,
    overrides: list[tuple[str, str]],
    backend: str = "sim",
    linked: bool = False,
) -> str: ...
def components(
    text: bytes,
    file: str,
    overrides: list[tuple[str, str]],
    backend: str = "sim",
    linked: bool = False,
) -> str: ...
def toml_lines(text: str) -> str: ...
def run_seed(
    text: bytes,
    file: str,
    overrides: list[tuple[str, str]],
    seed: int,
    record: bool,
    token: RunToken,
    qlog: str | None = None,
    pcap: str | None = None,
) -> tuple[str, Detail, dict[str, Any] | None]: ...
def remote_controllers(
    text: bytes, file: str, overrides: list[tuple[str, str]], linked: bool
) -> list[tuple[str, str, list[str], str]]:
    """Return the algorithms of a scenario that a kernel lacks.

    Of each: the key that names it, its name, its probes, its ECN codepoint.
    """

def catalogue(backend: str = ...) -> str: ...
def trace(name: str) -> str: ...
def describe_trace(name: str, window_ns: int, delays: bool) -> str:
    """Return what a trace, or with `delays` a file of delays, is like, as JSON. Raises `ValueError`."""

def read_capture(name: str) -> tuple[str, list[int], list[float]]:
    """Return what a capture shows: facts as JSON; when data arrived (ns), and their bytes.

    Raises `ValueError`.
    """

def nearest(word: str, known: list[str]) -> list[str]:
    """Return the known words closest to an unknown one, including all that are equally close."""

# The size limit of a file of weights.
WEIGHTS_BYTES: int

def bench_cases() -> list[str]: ...
def bench(case: str, repeats: int, overrides: list[tuple[str, str]]) -> str: ...

# The result of a step for an agent: observation, reward, terminated, truncated, info.
Turn = tuple[NDArray[float32], float, bool, bool, dict[str, Any]]

# An environment, a scenario (text, file, steered flows) or a number of flows, and overrides.
CourseArguments = tuple[str, tuple[bytes, str, list[str]] | None, int, list[tuple[str, str]], str]

class EnvironmentCourse:
    """The immutable definition of episodes."""

    def __init__(
        self,
        arguments: CourseArguments,
        controllers: list[tuple[str, str]],
        linux: tuple[Callable[..., Any], bool, tuple[str, str]] | None,
    ) -> None: ...
    @property
    def arguments(self) -> CourseArguments:
        """The arguments of the constructor."""
    @property
    def hashes(self) -> list[tuple[str, str]]:
        """The controllers, the files that the scenario names and the kernel, with their original hashes."""
    @property
    def agents(self) -> list[str]:
        """The names of the flows that agents steer."""
    @property
    def spaces(self) -> tuple[int, int]:
        """The length of the observation and the number of actions."""
    @property
    def inputs(self) -> str | None:
        """The observation as a file of weights names it; None if it depends on earlier observations."""
    def link(self, seed: int) -> list[tuple[str, float]]:
        """Return the link of the episode with this seed, by name: random values, or overrides."""
    def with_algorithm(self, seed: int, algorithm: str) -> str:
        """Return the measures of the episode with an algorithm instead of the agents."""

# The seed of the episodes and the number drawn so far; the seed, actions and observation of the last episode.
Standing = tuple[int, int, int, tuple[bytes, list[float]] | None]

class Episodes:
    """One environment, for one agent or several."""

    def __init__(self, course: EnvironmentCourse) -> None: ...
    @property
    def course(self) -> EnvironmentCourse: ...
    @property
    def standing(self) -> Standing: ...
    def go_to(self, there: Standing) -> None:
        """Restore the state of another one of the same course, by repeating its episode."""
    def reset(self, seed: int | None) -> Turn: ...
    def step(self, action: int) -> Turn: ...
    def last(self, agent: int) -> Turn:
        """Return the last turn of one of several agents, at the end of the episode."""
    @property
    def turn(self) -> int:
        """The index of the agent whose turn it is."""
    @property
    def seed(self) -> int:
        """The seed of the episode."""
    @property
    def link(self) -> list[tuple[str, float]]:
        """The link of the episode, by name."""
    def finish(self) -> str:
        """End the episode and return its measures."""
    def close(self) -> None:
        """End the episode, if there is one."""

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
        """Restore the states of another fleet of the same course."""
    def reset(self, seeds: list[int | None]) -> Turns: ...
    def step(self, actions: NDArray[uint32]) -> Turns: ...
    def close(self) -> None:
        """End the episodes."""

Turns = tuple[NDArray[float32], NDArray[float64], NDArray[bool_], NDArray[bool_], dict[str, Any]]

class Trainer:
    """A DQN that learns in an environment."""

    def __init__(self, course: EnvironmentCourse, seed: int, given: bytes | None) -> None: ...
    @staticmethod
    def resumed(course: EnvironmentCourse, seed: int, checkpoint: bytes) -> Trainer:
        """Return a trainer that continues from a checkpoint."""
    @property
    def decisions(self) -> int:
        """The number of decisions learned from, including those before the checkpoint."""
    def train(self, decisions: int) -> list[tuple[int, int, float]]:
        """Learn from this many decisions. Return seed, decisions and mean reward of each finished episode."""
    def weights(self) -> bytes:
        """Return the current weights as a safetensors file."""
    def checkpoint(self) -> bytes:
        """Return a checkpoint from which another trainer can continue, as a safetensors file."""

class Policy:
    """A network that plays the action with the highest value."""

    def __init__(self, file: bytes) -> None: ...
    @property
    def inputs(self) -> str:
        """The observation that the network expects."""
    @property
    def actions(self) -> int:
        """The number of actions that it chooses from."""
    def __call__(self, observation: NDArray[float32]) -> int: ...
