"""Reno as a controller in Python. Its runs equal those of `reno` to the bit; `bench` measures its cost."""

from __future__ import annotations

import cwndlab


@cwndlab.controller("python-reno", source="RFC 5681, RFC 3465; as the built-in reno counts")
class Reno:
    """Reno with byte counting: one segment more in each round trip, half the window after a loss."""

    probes = ("ssthresh_bytes",)

    def __init__(self, setup: cwndlab.Setup) -> None:
        self.cwnd_bytes = self.initial_window_bytes = setup.initial_window_bytes
        self.ssthresh_bytes = setup.initial_ssthresh_bytes
        self.credit_bytes = 0
        self.before_reduction: tuple[int, int | None] | None = None

    def on_ack(self, ack: cwndlab.Ack) -> None:
        """Grow if the window was the limit (RFC 7661)."""
        grows = ack.advanced_bytes or ack.unordered_growth
        if ack.phase == "recovery" or not grows or not ack.window_limited:
            return
        acked = ack.acked_bytes
        if self.ssthresh_bytes is None or self.cwnd_bytes < self.ssthresh_bytes:
            room = acked if self.ssthresh_bytes is None else self.ssthresh_bytes - self.cwnd_bytes
            used = min(acked, room)
            self.cwnd_bytes += used
            acked -= used
        if acked:
            self._grow_one_segment_a_round(acked, ack.mss_bytes)

    def on_event(self, event: cwndlab.Event) -> None:
        """Reduce the window, undo a reduction, or restart after an idle time."""
        if event.kind in ("loss-recovery", "ecn-reduction"):
            self._reduce(event)
            self.cwnd_bytes = self.ssthresh_bytes or 0
        elif event.kind == "timeout":
            # As in Linux: neither in recovery nor when the timer expires again.
            if event.phase in ("open", "disorder"):
                self._reduce(event)
            self.cwnd_bytes, self.credit_bytes = event.mss_bytes, 0
        elif event.kind == "undo" and self.before_reduction is not None:
            cwnd_bytes, self.ssthresh_bytes = self.before_reduction
            self.cwnd_bytes = max(self.cwnd_bytes, cwnd_bytes)
            self.before_reduction = None
        elif event.kind == "idle-restart" and event.idle_s is not None and event.rto_s:
            self._decay(event.idle_s, event.rto_s)

    def _grow_one_segment_a_round(self, acked: int, mss: int) -> None:
        """RFC 5681 section 3.1 with the byte counting of RFC 3465."""
        window = self.cwnd_bytes
        if self.credit_bytes >= window:
            self.credit_bytes = 0
            self.cwnd_bytes += mss
        segments, self.credit_bytes = divmod(self.credit_bytes + acked, window)
        self.cwnd_bytes += segments * mss

    def _reduce(self, event: cwndlab.Event) -> None:
        # An undo reverts all reductions since the flow was last in order.
        if event.phase in ("open", "disorder"):
            self.before_reduction = self.cwnd_bytes, self.ssthresh_bytes
        # Whole segments, as Linux counts them.
        half = self.cwnd_bytes // 2 // event.mss_bytes * event.mss_bytes
        self.ssthresh_bytes = max(half, 2 * event.mss_bytes)
        self.credit_bytes = 0

    def _decay(self, idle_s: float, rto_s: float) -> None:
        """RFC 2861 section 3: the window halves for each idle RTO, down to the initial window."""
        restart = min(self.initial_window_bytes, self.cwnd_bytes)
        if self.ssthresh_bytes is not None:
            self.ssthresh_bytes = max(self.ssthresh_bytes, self.cwnd_bytes // 4 * 3)
        while idle_s >= rto_s and self.cwnd_bytes > restart:
            idle_s -= rto_s
            self.cwnd_bytes //= 2
        self.cwnd_bytes = max(self.cwnd_bytes, restart)
