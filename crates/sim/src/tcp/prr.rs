//! Proportional rate reduction (RFC 9937): how much recovery may send, ACK by ACK. In segments.

/// The state of one recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prr {
    /// ns-3's variant, with the segment size in bytes.
    ns3: Option<u32>,
    ssthresh: u32,
    recover_fs: u32,
    delivered: u32,
    out: u32,
    window: u32,
}

impl Prr {
    /// Recovery begins. `recover_fs` is RecoverFS: segments outstanding, without those SACKed before.
    #[must_use]
    pub fn begin(ssthresh: u32, recover_fs: u32) -> Self {
        Self { ssthresh, recover_fs: recover_fs.max(1), ..Self::default() }
    }

    /// As ns-3.35 to 3.37 compute it: see [`Prr::on_ack_ns3`].
    #[must_use]
    pub fn begin_ns3(ssthresh: u32, recover_fs: u32, mss: u64) -> Self {
        Self { ns3: Some(mss as u32), ..Self::begin(ssthresh, recover_fs) }
    }

    /// Segments that may be in flight now.
    #[must_use]
    pub fn window(&self) -> u32 {
        self.window
    }

    /// A data packet left.
    pub fn on_sent(&mut self) {
        self.out += 1;
    }

    /// RFC 9937 section 6.2. `delivered` is DeliveredData of this ACK; `safe` says that SND.UNA advanced and
    /// nothing more was marked lost.
    pub fn on_ack(&mut self, delivered: u32, pipe: u32, safe: bool) {
        self.delivered += delivered;
        if let Some(mss) = self.ns3 {
            self.window = pipe + self.on_ack_ns3(delivered, pipe, safe, mss);
            return;
        }
        let may_send = if pipe > self.ssthresh {
            let share = u64::from(self.delivered) * u64::from(self.ssthresh);
            let target = share.div_ceil(u64::from(self.recover_fs)) as u32;
            target.saturating_sub(self.out)
        } else {
            let limit = self.delivered.saturating_sub(self.out).max(delivered) + u32::from(safe);
            limit.min(self.ssthresh - pipe)
        };
        // The fast retransmit itself always leaves.
        let first = u32::from(self.out == 0);
        self.window = pipe + may_send.max(first);
    }

    /// ns-3's TcpPrrRecovery. It multiplies bytes in 32 bits, so with windows above some 90 segments the
    /// product wraps, and recovery sends almost nothing until the pipe has fallen to ssthresh. Below ssthresh
    /// it credits segments that were not sent before only when a retransmission is acknowledged.
    fn on_ack_ns3(&self, delivered: u32, pipe: u32, retransmission_acked: bool, mss: u32) -> u32 {
        let first = i64::from(self.out == 0);
        let out = i64::from(self.out);
        let may_send = if pipe > self.ssthresh {
            let product = (self.delivered * mss).wrapping_mul(self.ssthresh * mss);
            let target = product.div_ceil(self.recover_fs * mss);
            (i64::from(target) - out * i64::from(mss)).div_euclid(i64::from(mss))
        } else {
            let limit = if retransmission_acked {
                (i64::from(self.delivered) - out).max(i64::from(delivered)) + 1
            } else {
                i64::from(delivered)
            };
            limit.min(i64::from(self.ssthresh - pipe))
        };
        may_send.max(first) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 6937 section 3.1: one loss of 20, ssthresh 10: about every second ACK sends one segment.
    #[test]
    fn one_loss_of_twenty_is_spread_over_the_round() {
        let mut prr = Prr::begin(10, 20);
        let mut pipe = 19;
        let mut sent_per_ack = Vec::new();
        for _ in 0..19 {
            pipe -= 1;
            prr.on_ack(1, pipe, false);
            let mut sent = 0;
            while pipe < prr.window() {
                pipe += 1;
                sent += 1;
                prr.on_sent();
            }
            sent_per_ack.push(sent);
        }
        assert_eq!(sent_per_ack.iter().sum::<u32>(), 10);
        assert_eq!(&sent_per_ack[..6], &[1, 0, 1, 0, 1, 0]);
        assert_eq!(pipe, 10);
    }

    /// RFC 9937 section 6.2: below ssthresh, slow start only when the ACK is safe.
    #[test]
    fn a_heavy_loss_is_repaired_by_conservation_or_slow_start() {
        let after = |safe| {
            let mut prr = Prr::begin(10, 20);
            prr.on_ack(1, 3, safe);
            prr.on_sent();
            prr.on_ack(1, 3, safe);
            prr.window() - 3
        };
        assert_eq!((after(false), after(true)), (1, 2));
    }
}
