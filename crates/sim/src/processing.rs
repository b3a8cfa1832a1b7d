//! How long a sender's host takes to react to an ACK.

use cwndlab_cc::Span;

/// How long a sender's host takes for an ACK, at most: a time uniform in [0, this] for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Processing {
    /// Of senders whose packets leave when ACKs come.
    pub ack_clocked: Span,
    /// Of paced senders.
    pub paced: Span,
}

impl Processing {
    /// What interrupts and their coalescing cost a host.
    const HOST: Span = Span::from_micros(10);

    /// The same for all.
    #[must_use]
    pub fn of(most: Span) -> Self {
        Self { ack_clocked: most, paced: most }
    }

    /// What a path gives whose slowest link takes this long for a packet. Packets that leave when ACKs come arrive at a
    /// queue in step with its departures, and the step decides who finds it full: a phase effect, against which a random
    /// packet time for each ACK is the remedy (Floyd and Jacobson 1991). A paced sender is in step with nothing, and takes
    /// the largest of its delivery rates for the bandwidth, to which a packet time would add its share of a round trip: it
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
