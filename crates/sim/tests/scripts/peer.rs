//! The script of one receiver: what arrives and when, and how it is expected to answer.

use crate::script::{Opening, RTT, ms};
use cwndlab_cc::{Span, Time};
use cwndlab_sim::packet::{AckHeader, Data, EcnField};
use cwndlab_sim::tcp::Receiver;
use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::Arc;

/// A receiver, its clock, and the story so far.
pub struct Peer {
    receiver: Receiver,
    now: Time,
    answers: VecDeque<AckHeader>,
    last: AckHeader,
    story: String,
}

impl Peer {
    /// A receiver that accepts a connection at 0 ms.
    pub fn of(opening: Opening) -> Self {
        let mut receiver = Receiver::new(Arc::new(opening.options.clone()));
        receiver.accept(Time::ZERO);
        let (answers, last) = (VecDeque::new(), AckHeader::default());
        Self { receiver, now: Time::ZERO, answers, last, story: String::new() }
    }

    /// Lets the time come, with every clock that is due by then.
    #[track_caller]
    pub fn at(&mut self, at: u64) -> &mut Self {
        self.expect_nothing();
        while self.receiver.next_timer() <= ms(at) {
            self.now = self.receiver.next_timer();
            let answer = self.receiver.on_timer(self.now);
            self.take("a clock is due", answer);
        }
        self.now = ms(at);
        self
    }

    /// A segment arrives.
    #[track_caller]
    pub fn data(&mut self, seq: u32) -> &mut Self {
        self.arrive(seq, false, EcnField::Ect0)
    }

    /// A segment arrives with a congestion mark.
    #[track_caller]
    pub fn marked(&mut self, seq: u32) -> &mut Self {
        self.arrive(seq, false, EcnField::Ce)
    }

    /// A segment arrives that says that the window was reduced.
    #[track_caller]
    pub fn with_cwr(&mut self, seq: u32) -> &mut Self {
        self.arrive(seq, true, EcnField::Ect0)
    }

    /// Both.
    #[track_caller]
    pub fn marked_with_cwr(&mut self, seq: u32) -> &mut Self {
        self.arrive(seq, true, EcnField::Ce)
    }

    /// A segment arrives that left then, in milliseconds.
    #[track_caller]
    pub fn data_of(&mut self, sent_at: u64, seq: u32) -> &mut Self {
        self.arrive_from(ms(sent_at), seq, false, EcnField::Ect0)
    }

    #[track_caller]
    fn arrive(&mut self, seq: u32, cwr: bool, ecn: EcnField) -> &mut Self {
        self.arrive_from(self.now - Span::from_millis(RTT / 2), seq, cwr, ecn)
    }

    #[track_caller]
    fn arrive_from(&mut self, sent_at: Time, seq: u32, cwr: bool, ecn: EcnField) -> &mut Self {
        self.expect_nothing();
        // It echoes an ACK that left a round trip ago.
        let echo = self.now - Span::from_millis(RTT);
        let data = Data { seq, sent_at, echo, cwr, push: false };
        let due = self.receiver.on_data(self.now, &data, ecn);
        let answer = due.then(|| self.receiver.acknowledge(self.now, false));
        self.take(&format!("segment {seq} arrives"), answer);
        self
    }

    fn take(&mut self, what: &str, answer: Option<AckHeader>) {
        let at = Span(self.now.0).as_millis_f64();
        let _infallible = writeln!(self.story, "{at:>8.2} ms  {what:<30} {answer:?}");
        self.answers.extend(answer);
    }

    /// An ACK without blocks left.
    #[track_caller]
    pub fn expect_ack(&mut self, cumulative: u32) -> &mut Self {
        self.expect_sack(cumulative, [])
    }

    /// An ACK left with exactly these blocks, in this order.
    #[track_caller]
    pub fn expect_sack<const N: usize>(&mut self, cumulative: u32, blocks: [(u32, u32); N]) -> &mut Self {
        let Some(answer) = self.answers.pop_front() else {
            self.fail(&format!("ACK {cumulative} should be sent"))
        };
        let named: Vec<_> =
            answer.sack.iter().filter(|b| b.end > b.start).map(|b| (b.start, b.end)).collect();
        if answer.cumulative != cumulative || named != blocks {
            self.fail(&format!(
                "ACK {cumulative} {blocks:?} should be sent, not {} {named:?}",
                answer.cumulative
            ));
        }
        self.last = answer;
        self
    }

    /// The last ACK reports a duplicate in its first block, or does not.
    #[track_caller]
    pub fn expect_dsack(&mut self, dsack: bool) -> &mut Self {
        if self.last.dsack == dsack { self } else { self.fail(&format!("dsack should be {dsack}")) }
    }

    /// The last ACK announces room for segments below this one.
    #[track_caller]
    pub fn expect_edge(&mut self, edge: u32) -> &mut Self {
        let announced = self.last.cumulative + self.last.window;
        if announced == edge {
            self
        } else {
            self.fail(&format!("the edge should be {edge}, not {announced}"))
        }
    }

    /// The last ACK echoes a mark, or does not.
    #[track_caller]
    pub fn expect_ece(&mut self, ece: bool) -> &mut Self {
        if self.last.ece == ece { self } else { self.fail(&format!("ece should be {ece}")) }
    }

    /// The last ACK was held back by the delayed-ACK timer, or was not.
    #[track_caller]
    pub fn expect_delayed(&mut self, delayed: bool) -> &mut Self {
        if self.last.delayed == delayed { self } else { self.fail(&format!("delayed should be {delayed}")) }
    }

    /// No answer is due.
    #[track_caller]
    pub fn expect_nothing(&mut self) -> &mut Self {
        match self.answers.front() {
            None => self,
            Some(answer) => self.fail(&format!("nothing more should be sent, but {answer:?} was")),
        }
    }

    /// How many ACKs left, whichever they are.
    pub fn count_acks(&mut self) -> usize {
        self.answers.drain(..).count()
    }

    #[track_caller]
    fn fail(&self, why: &str) -> ! {
        panic!("{why}, at {}\n\nThe story so far:\n{}", Span(self.now.0), self.story)
    }
}

impl Drop for Peer {
    /// A test that forgets what was sent last has not looked.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.expect_nothing();
        }
    }
}
