//! Messages as 64-bit words. Both ends come from one build, so messages carry no version.

use super::{Answer, Callback, Message, Moment, Owner, Seen};
use cwndlab_cc::{
    Ack, Control, Ecn, Event, Facts, Lost, Needs, Phase, Rate, RateSample, Rtt, SendLimit, Setup, Span,
    SubflowView, Time,
};
use cwndlab_sim::Glance;

/// A value that is encoded as words.
pub(super) trait Words: Sized {
    /// Appends the value.
    fn put(&self, to: &mut Vec<u64>);
    /// Takes a value off the front; `None` if the words encode none.
    fn take(from: &mut &[u64]) -> Option<Self>;
}

/// A message as bytes.
pub(super) fn encode(message: &impl Words) -> Vec<u8> {
    let mut words = Vec::new();
    message.put(&mut words);
    words.into_iter().flat_map(u64::to_le_bytes).collect()
}

/// An answer of one word: an agent's action, or any value where only the arrival of an answer matters.
#[must_use]
pub fn word(word: u64) -> Vec<u8> {
    encode(&word)
}

/// Decodes a message; `None` if the bytes are not one.
pub(super) fn decode<T: Words>(bytes: &[u8]) -> Option<T> {
    let (words, rest) = bytes.as_chunks();
    let words: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
    let mut left = &words[..];
    let message = T::take(&mut left)?;
    (left.is_empty() && rest.is_empty()).then_some(message)
}

impl Words for u64 {
    fn put(&self, to: &mut Vec<u64>) {
        to.push(*self);
    }

    fn take(from: &mut &[u64]) -> Option<Self> {
        let (first, rest) = from.split_first()?;
        *from = rest;
        Some(*first)
    }
}

impl Words for bool {
    fn put(&self, to: &mut Vec<u64>) {
        u64::from(*self).put(to);
    }

    fn take(from: &mut &[u64]) -> Option<Self> {
        Some(u64::take(from)? != 0)
    }
}

impl Words for f64 {
    fn put(&self, to: &mut Vec<u64>) {
        self.to_bits().put(to);
    }

    fn take(from: &mut &[u64]) -> Option<Self> {
        u64::take(from).map(Self::from_bits)
    }
}

impl Words for f32 {
    fn put(&self, to: &mut Vec<u64>) {
        u64::from(self.to_bits()).put(to);
    }

    fn take(from: &mut &[u64]) -> Option<Self> {
        u32::try_from(u64::take(from)?).ok().map(Self::from_bits)
    }
}

impl<T: Words> Words for Option<T> {
    fn put(&self, to: &mut Vec<u64>) {
        self.is_some().put(to);
        if let Some(value) = self {
            value.put(to);
        }
    }

    fn take(from: &mut &[u64]) -> Option<Self> {
        Some(if bool::take(from)? { Some(T::take(from)?) } else { None })
    }
}

impl<T: Words> Words for Vec<T> {
    fn put(&self, to: &mut Vec<u64>) {
        (self.len() as u64).put(to);
        self.iter().for_each(|each| each.put(to));
    }

    fn take(from: &mut &[u64]) -> Option<Self> {
        (0..u64::take(from)?).map(|_| T::take(from)).collect()
    }
}

impl Words for String {
    fn put(&self, to: &mut Vec<u64>) {
        self.bytes().map(u64::from).collect::<Vec<_>>().put(to);
    }

    fn take(from: &mut &[u64]) -> Option<Self> {
        let bytes: Option<_> =
            Vec::take(from)?.into_iter().map(|word: u64| u8::try_from(word).ok()).collect();
        String::from_utf8(bytes?).ok()
    }
}

/// A wrapper of one word.
macro_rules! word {
    ($($name:ident),*) => { $(
        impl Words for $name {
            fn put(&self, to: &mut Vec<u64>) {
                self.0.put(to);
            }

            fn take(from: &mut &[u64]) -> Option<Self> {
                u64::take(from).map(Self)
            }
        }
    )* };
}

/// The fields of a struct, one after the other.
macro_rules! fields {
    ($($name:ident { $($field:ident),* })*) => { $(
        impl Words for $name {
            fn put(&self, to: &mut Vec<u64>) {
                $(self.$field.put(to);)*
            }

            fn take(from: &mut &[u64]) -> Option<Self> {
                Some(Self { $($field: Words::take(from)?),* })
            }
        }
    )* };
}

/// The number of a variant, followed by its fields.
macro_rules! variants {
    ($($name:ident { $($number:literal => $variant:ident $(($($field:ident),*))?),* })*) => { $(
        impl Words for $name {
            fn put(&self, to: &mut Vec<u64>) {
                match self {
                    $(Self::$variant $(($($field),*))? => {
                        to.push($number);
                        $($($field.put(to);)*)?
                    })*
                }
            }

            fn take(from: &mut &[u64]) -> Option<Self> {
                match u64::take(from)? {
                    $($number => {
                        $($(let $field = Words::take(from)?;)*)?
                        Some(Self::$variant $(($($field),*))?)
                    })*
                    _ => None,
                }
            }
        }
    )* };
}

word! { Time, Span, Rate }

fields! {
    Setup { mss, initial_window, initial_ssthresh, paced }
    Moment { facts, subflows, me }
    Seen { now, glance, reward, observation }
    Glance { delivered_bytes, sent_packets, retransmitted_packets, rtt, finished }
    Answer { control, timer, made, needs, probed }
    Control { cwnd, pacing_rate, send_quantum, shown_window }
    Needs { ecn, sent_packets, lost_packets, own_window_in_recovery, ignores_rate_samples }
    Facts { now, mss, rtt, in_flight, flight_size, outstanding, phase, limited_by, next_departure, window_limited }
    Rtt { smoothed, variance, minimum, latest, rto }
    SubflowView { window, srtt, since_loss, between_losses, mss, usable }
    Ack { acked, advanced, lost, ce, prior_in_flight, delivered, rtt, delayed, tail_probe, unordered_growth, sample }
    RateSample { delivered, interval, prior_delivered, lost, ce, in_flight_at_send, app_limited }
    Lost { bytes, in_flight_at_send, prior_delivered, prior_lost, lost_total, app_limited }
}

variants! {
    Owner { 0 => Flow(number), 1 => Arrivals(number) }
    Message {
        0 => New(owner, name, setup), 1 => Callback(number, moment, callback), 2 => Decision(flow, seen), 3 => End(flow, seen), 4 => Over,
        5 => Act(number, action)
    }
    Callback { 0 => Sent(bytes), 1 => Lost(lost), 2 => Event(event), 3 => Ack(ack), 4 => Timer }
    Event { 0 => LossRecovery, 1 => EcnReduction, 2 => Recovered, 3 => Timeout, 4 => Undo, 5 => IdleRestart(idle) }
    Phase { 0 => Open, 1 => Disorder, 2 => Recovery, 3 => Loss }
    SendLimit { 0 => Window, 1 => Application, 2 => Receiver }
    Ecn { 0 => AsConfigured, 1 => Ect0, 2 => Ect1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack() -> Message {
        let facts = Facts { now: Time(7), mss: 1448, phase: Phase::Loss, ..Facts::default() };
        let subflows =
            vec![SubflowView::default(), SubflowView { window: 9, usable: true, ..SubflowView::default() }];
        let sample = Some(RateSample { delivered: 3, app_limited: true, ..RateSample::default() });
        let ack = Ack { acked: 1, rtt: Some(Span(5)), sample, ..Ack::default() };
        Message::Callback(4, Moment { facts, subflows, me: 1 }, Callback::Ack(ack))
    }

    #[test]
    fn a_message_is_what_it_was() {
        let setup = Setup { mss: 1448, initial_window: 14_480, initial_ssthresh: u64::MAX, paced: true };
        let new = Message::New(Owner::Arrivals(2), "web/ü".to_owned(), setup);
        let idle = Moment { facts: Facts::default(), subflows: Vec::new(), me: 0 };
        let event = Message::Callback(0, idle, Callback::Event(Event::IdleRestart(Span(8))));
        let glance = Glance { sent_packets: 7, finished: true, ..Glance::default() };
        let seen = Seen { now: Time(3), glance, reward: -0.5, observation: vec![0.25, -1.0] };
        let agents =
            [Message::Decision(2, seen.clone()), Message::End(1, seen), Message::End(0, Seen::default())];
        for message in [ack(), new, event, Message::Act(3, 1), Message::Over].into_iter().chain(agents) {
            assert_eq!(decode(&encode(&message)), Some(message));
        }
    }

    #[test]
    fn a_message_that_is_cut_or_too_long_is_none() {
        let bytes = encode(&ack());
        for end in 0..bytes.len() {
            assert_eq!(decode::<Message>(&bytes[..end]), None, "{end} bytes");
        }
        assert_eq!(decode::<Message>(&[bytes, vec![0; 8]].concat()), None);
        assert_eq!(decode::<Message>(&encode(&vec![9_u64])), None, "no such message");
    }
}
