//! How long a sender's host takes to react to an ACK.

use cwndlab_cc::Span;

/// The longest time that a sender's host takes to process an ACK: each ACK takes a time uniform in [0, this].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Processing {
    /// For senders whose packets leave when ACKs arrive.
    pub ack_clocked: Span,
    /// For paced senders.
    pub paced: Span,
}

impl Processing {
    /// The delay that interrupts and their coalescing cause in a host.
    const HOST: Span = Span::from_micros(10);

    /// The same bound for all senders.
    #[must_use]
    pub fn of(most: Span) -> Self {
        Self { ack_clocked: most, paced: most }
    }

    /// The bounds for a path whose slowest link takes this long for a packet. Packets that leave when ACKs
    /// arrive reach a queue in step with its departures, and this step decides whose packets find it full: a
    /// phase effect. The remedy is a random delay of up to a packet time for each ACK
    /// (Floyd and Jacobson 1991). A paced sender is in step with nothing, and it takes the largest of its
    /// delivery rates as the bandwidth, which a packet time would inflate by its share of a round trip: so it
    /// has no more than a host's jitter.
    #[must_use]
    pub fn against_phase_effects(packet_time: Span) -> Self {
        Self { ack_clocked: packet_time, paced: packet_time.min(Self::HOST) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paced_senders_have_a_hosts_jitter_and_others_a_packet_time() {
        let slow = Processing::against_phase_effects(Span::from_micros(1200));
        assert_eq!((slow.ack_clocked, slow.paced), (Span::from_micros(1200), Span::from_micros(10)));
        let fast = Processing::against_phase_effects(Span::from_micros(1));
        assert_eq!((fast.ack_clocked, fast.paced), (Span::from_micros(1), Span::from_micros(1)));
    }
}
