"""A controller of your own: copy this file, give it another name, and change what it does.

cwndlab run scenarios/two-flows.toml --with my_algorithm.py --set flow.a.cc=my-aimd
"""

import cwndlab as cl


@cl.controller("my-aimd", source="AIMD as in Chiu and Jain 1989")
class MyAimd:
    """AIMD: adds some segments per round trip, keeps a share of its window on a loss."""

    # What a scenario can set: cc = { name = "my-aimd", gain = 2 }
    gain = cl.parameter(1.0, low=0.01, high=100, unit="segments", meaning="growth per round trip")
    keep = cl.parameter(0.5, low=0.1, high=0.9, meaning="share of the window kept on a loss")

    # What a recording shows beside the window: names of attributes.
    probes = ("ssthresh_bytes",)

    def __init__(self, setup: cl.Setup) -> None:
        """Start a flow; each has its own object."""
        self.cwnd_bytes: float = setup.initial_window_bytes
        self.ssthresh_bytes: float | None = None

    def on_ack(self, ack: cl.Ack) -> None:
        """Grow: double each round trip in slow start, then add `gain` segments."""
        if ack.phase == "recovery" or not ack.window_limited:
            return
        if self.ssthresh_bytes is None or self.cwnd_bytes < self.ssthresh_bytes:
            self.cwnd_bytes += ack.acked_bytes
        else:
            self.cwnd_bytes += self.gain * ack.mss_bytes * ack.acked_bytes / self.cwnd_bytes

    def on_event(self, event: cl.Event) -> None:
        """Shrink, at most once per round trip."""
        if event.kind in ("loss-recovery", "ecn-reduction"):
            self.ssthresh_bytes = max(self.keep * self.cwnd_bytes, 2 * event.mss_bytes)
            self.cwnd_bytes = self.ssthresh_bytes
        elif event.kind == "timeout":
            self.ssthresh_bytes = max(self.keep * self.cwnd_bytes, 2 * event.mss_bytes)
            self.cwnd_bytes = event.mss_bytes
