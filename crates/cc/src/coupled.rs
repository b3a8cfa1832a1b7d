//! What coupled controllers share: the paths of a connection as one of its subflows sees them, RFC 6356's
//! alpha, and windows that move by fractions of a byte.

use crate::classic::Window;
use crate::contract::{Context, SubflowView};

crate::words! {
    /// What makes a coupled window grow in congestion avoidance.
    pub enum Counting {
        /// Bytes acknowledged (RFC 6356).
        Bytes = "bytes",
        /// ACKs, each worth at most one segment (the Linux MPTCP modules): half as fast with delayed ACKs.
        Acks = "acks",
    }
}

impl Counting {
    /// How many bytes an ACK counts for.
    #[must_use]
    pub fn of(self, acked: u64, mss: u64) -> u64 {
        match self {
            Counting::Bytes => acked,
            Counting::Acks => acked.min(mss),
        }
    }
}

crate::words! {
    /// How the growth of coupled windows is calculated, and in which units they grow.
    pub enum Arithmetic {
        /// In real numbers; windows grow by fractions.
        Exact = "exact",
        /// In whole numbers; windows grow by whole segments (the Linux MPTCP modules).
        Kernel = "kernel",
    }
}

/// A path that carries data: its window, and the RTT that turns the window into a rate.
#[derive(Clone, Copy, Debug)]
pub struct Path<'a> {
    /// What its subflow shows.
    pub view: &'a SubflowView,
    /// Whether it is the path of the subflow that looks.
    pub own: bool,
    /// The window in bytes.
    pub window: f64,
    /// SRTT in seconds; above zero.
    pub rtt_s: f64,
}

impl Path<'_> {
    /// The rate in bytes per second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.window / self.rtt_s
    }

    /// The window in whole segments, as Linux counts it.
    #[must_use]
    pub fn segments(&self) -> u64 {
        self.window as u64 / self.view.mss.max(1)
    }

    /// SRTT in eighths of a microsecond, as Linux keeps it (`srtt_us`); at least one.
    #[must_use]
    pub fn srtt_us_8(&self) -> u64 {
        (self.view.srtt.0 / 125).max(1)
    }
}

/// The paths that can carry data and have an RTT, in order. The subflow's own path counts even if it is not
/// usable, and with `own_window`, whatever window its siblings see.
pub fn paths<'a>(cx: &'a Context, own_window: f64) -> impl Iterator<Item = Path<'a>> + Clone {
    let me = cx.me;
    cx.subflows.iter().enumerate().filter_map(move |(n, view)| {
        let (own, rtt_s) = (n == me, view.srtt.as_secs_f64());
        let window = if own { own_window } else { view.window as f64 };
        ((view.usable || own) && rtt_s > 0.0).then_some(Path { view, own, window, rtt_s })
    })
}

/// RFC 6356's alpha, and the total window that it belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Coupling {
    /// How aggressive the connection is as a whole.
    pub alpha: f64,
    /// The sum of the windows, in bytes.
    pub total: f64,
}

impl Coupling {
    /// RFC 6356 equation (2): alpha = W max(w / rtt^2) / (sum of w / rtt)^2. `None` with a single path, which
    /// is plain TCP.
    #[must_use]
    pub fn of(cx: &Context, own_window: f64) -> Option<Self> {
        let (mut total, mut best, mut rate, mut count) = (0.0, 0.0f64, 0.0, 0);
        for path in paths(cx, own_window) {
            total += path.window;
            best = best.max(path.rate() / path.rtt_s);
            rate += path.rate();
            count += 1;
        }
        (count > 1).then(|| Self { alpha: total * best / (rate * rate), total })
    }
}

/// The resolution of alpha / W per segment in Linux MPTCP v0.9x mptcp_coupled.c (alpha_scale = 12).
const STEPS: u64 = 1 << 12;

/// RFC 6356 equation (1) as mptcp_coupled.c calculates it: the number of ACKs for a segment. alpha / W is a whole number
/// of 4096ths, at least one, so a large window grows by a segment every 1365, 2048 or 4096 ACKs, and nothing in between.
#[must_use]
pub fn lia_acks_per_segment(cx: &Context, window: &Window) -> u64 {
    let own = window.cwnd / window.mss;
    lia_alpha(cx, window).map_or(own, |alpha| own.max(STEPS / alpha))
}

/// alpha / W in 4096ths; `None` with a single path.
fn lia_alpha(cx: &Context, window: &Window) -> Option<u64> {
    let of = |path: &Path| (u128::from(path.segments()), u128::from(path.srtt_us_8()));
    let all = paths(cx, window.cwnd as f64);
    // Among paths that are equal in whole numbers, the first one counts.
    let mut best: Option<(u128, (u128, u128))> = None;
    for (segments, srtt) in all.clone().map(|path| of(&path)) {
        let quality = (segments << 32) / (srtt * srtt);
        if best.is_none_or(|(largest, _)| quality > largest) {
            best = Some((quality, (segments, srtt)));
        }
    }
    let (_, (best_segments, best_srtt)) = best?;
    let sum: u128 = all.clone().map(|path| of(&path)).map(|(w, srtt)| (w << 10) * best_srtt / srtt).sum();
    let alpha = (best_segments << 32) / (sum * sum).max(1);
    (all.count() > 1).then_some((alpha as u64).max(1))
}

/// Windows that grow by whole segments, each for a number of ACKs (mptcp_coupled.c, mptcp_balia.c).
#[derive(Clone, Copy, Debug, Default)]
pub struct AckCount {
    /// Bytes counted towards the next segment; any excess is dropped when the window grows.
    counted: u64,
}

impl AckCount {
    /// Counts an ACK worth `bytes` bytes towards a segment for every `acks_per_segment`. The ACK that grows the window
    /// is not counted.
    pub fn add(&mut self, window: &mut Window, acks_per_segment: u64, bytes: u64) {
        if self.counted >= acks_per_segment * window.mss {
            window.cwnd += window.mss;
            self.counted = 0;
        } else {
            self.counted += bytes;
        }
    }

    /// Forgets the bytes counted, as at a reduction.
    pub fn clear(&mut self) {
        self.counted = 0;
    }
}

/// The part of a window's growth or shrinkage that has not yet reached a whole byte.
#[derive(Clone, Copy, Debug, Default)]
pub struct Remainder(f64);

impl Remainder {
    /// Moves the window by this many bytes, up or down, but not below a segment.
    pub fn add(&mut self, window: &mut Window, bytes: f64) {
        self.0 += bytes;
        let whole = self.0 as i64;
        self.0 -= whole as f64;
        window.cwnd = window.cwnd.saturating_add_signed(whole).max(window.mss);
    }

    /// Forgets this part, as at a reduction.
    pub fn clear(&mut self) {
        self.0 = 0.0;
    }
}
