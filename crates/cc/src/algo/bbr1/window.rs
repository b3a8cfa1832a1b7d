//! The window: it follows its target, conserves packets in the first round of a recovery, and is restored
//! after it (Linux tcp_bbr.c `bbr_set_cwnd`, `bbr_set_cwnd_to_recover_or_restore`, `bbr_save_cwnd`).

use crate::contract::Ack;

/// The smallest window in segments: two ACKs for two segments each (`bbr_cwnd_min_target`).
pub(super) const LEAST_SEGMENTS: u64 = 4;

/// What the transport is repairing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repair {
    Nothing,
    Recovery,
    Timeout,
}

/// The congestion window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    mss: u64,
    /// Until this many bytes are delivered, the window grows whatever the target (`TCP_INIT_CWND`).
    initial: u64,
    /// In bytes.
    pub cwnd: u64,
    /// The last window that neither a repair nor ProbeRTT had cut.
    prior: u64,
    repair: Repair,
    /// What was under repair at the last ACK (`prev_ca_state`). A recovery that begins with the ACK that
    /// ended another one counts as the same recovery: packets are not conserved again.
    last_repair: Repair,
    conserves: bool,
}

impl Window {
    pub fn new(initial: u64, mss: u64) -> Self {
        let (repair, last_repair) = (Repair::Nothing, Repair::Nothing);
        Self { mss, initial, cwnd: initial, prior: 0, repair, last_repair, conserves: false }
    }

    /// Saves the window before it is cut; `cut` says that ProbeRTT has already cut it.
    pub fn save(&mut self, cut: bool) {
        let good = self.last_repair == Repair::Nothing && !cut;
        self.prior = if good { self.cwnd } else { self.prior.max(self.cwnd) };
    }

    /// Restores the window to its size before the cut.
    pub fn restore(&mut self) {
        self.cwnd = self.cwnd.max(self.prior);
    }

    pub fn begin_recovery(&mut self, cut: bool) {
        self.save(cut);
        self.repair = Repair::Recovery;
    }

    /// RFC 5681 section 3.1: one segment.
    pub fn time_out(&mut self, cut: bool) {
        self.save(cut);
        (self.repair, self.last_repair) = (Repair::Timeout, Repair::Timeout);
        self.cwnd = self.mss;
    }

    /// The repair is complete; the next ACK restores the window.
    pub fn end_repair(&mut self) {
        self.repair = Repair::Nothing;
    }

    /// The round of packet conservation is over.
    pub fn end_round(&mut self) {
        self.conserves = false;
    }

    /// Takes an ACK; returns whether the first round of a recovery begins with it.
    pub fn update(&mut self, ack: &Ack, in_flight: u64, target: u64, full_pipe: bool) -> bool {
        if ack.acked == 0 {
            return false;
        }
        let begins = self.repair == Repair::Recovery && self.last_repair != Repair::Recovery;
        let ends = self.repair == Repair::Nothing && self.last_repair != Repair::Nothing;
        self.last_repair = self.repair;
        // An ACK for n packets releases at most 2 n: the data that it reports lost is subtracted first.
        self.cwnd = self.cwnd.saturating_sub(ack.lost).max(self.mss);
        if begins {
            self.conserves = true;
            self.cwnd = in_flight + ack.acked;
        }
        if ends {
            self.conserves = false;
            self.restore();
        }
        if self.conserves {
            self.cwnd = self.cwnd.max(in_flight + ack.acked);
        } else {
            self.approach(target, ack, full_pipe);
        }
        begins
    }

    /// Grows towards the target as in slow start; shrinks to the target only once the pipe has been found full.
    fn approach(&mut self, target: u64, ack: &Ack, full_pipe: bool) {
        if full_pipe {
            self.cwnd = (self.cwnd + ack.acked).min(target);
        } else if self.cwnd < target || ack.delivered < self.initial {
            self.cwnd += ack.acked;
        }
        self.cwnd = self.cwnd.max(LEAST_SEGMENTS * self.mss);
    }

    /// ProbeRTT: cuts the window to the minimum.
    pub fn cut(&mut self) {
        self.cwnd = self.cwnd.min(LEAST_SEGMENTS * self.mss);
    }
}
