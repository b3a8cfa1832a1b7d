//! What must hold of a connection's data whatever its subflows do: each segment arrives once and in order, nothing is sent
//! beyond the shared window, and nothing is lost for good.

use cwndlab_cc::{SendLimit, Span, SubflowView, Time};
use cwndlab_sim::mptcp::{Distributor, MptcpOptions, Reassembly, Scheduler};
use cwndlab_sim::tcp::{Stream, TcpOptions};
use proptest::prelude::*;
use std::collections::VecDeque;

const SUBFLOWS: usize = 3;
const SEGMENTS: u32 = 120;
const WINDOW: u64 = 16;

/// What happens next to a subflow.
#[derive(Clone, Copy, Debug)]
enum Move {
    /// It has room for so many segments.
    Send(usize),
    /// So many of its segments arrive.
    Arrive(usize),
    /// Its sender hears of all that has arrived.
    Acknowledge,
    /// Its retransmission timer expires.
    TimeOut,
}

fn moves() -> impl Strategy<Value = Vec<(usize, Move)>> {
    let one = prop_oneof![
        4 => (1usize..6).prop_map(Move::Send),
        4 => (1usize..6).prop_map(Move::Arrive),
        3 => Just(Move::Acknowledge),
        1 => Just(Move::TimeOut),
    ];
    prop::collection::vec((0..SUBFLOWS, one), 1..300)
}

/// A subflow as a pipe that loses nothing for good: TCP sees to that.
#[derive(Default)]
struct Pipe {
    under_way: VecDeque<u32>,
    sent: u32,
    arrived: u32,
    usable: bool,
}

struct World {
    distributor: Distributor,
    reassembly: Reassembly,
    pipes: [Pipe; SUBFLOWS],
    /// How often each segment came first.
    fresh: Vec<u32>,
}

impl World {
    fn new(scheduler: Scheduler) -> Self {
        let tcp = TcpOptions::default();
        let tcp = TcpOptions { receive_buffer: WINDOW * tcp.mss, window_tuning: false, ..tcp };
        let bytes = u64::from(SEGMENTS) * tcp.mss - 5;
        let options = MptcpOptions { scheduler, ..MptcpOptions::default() };
        let distributor = Distributor::new(&options, SUBFLOWS, Stream::new(tcp.mss, Some(bytes)));
        let reassembly = Reassembly::new(&tcp);
        let pipes = std::array::from_fn(|_| Pipe { usable: true, ..Pipe::default() });
        let mut world = Self { distributor, reassembly, pipes, fresh: vec![0; SEGMENTS as usize] };
        for subflow in 0..SUBFLOWS {
            world.hold(subflow);
            world.distributor.on_ack(0, world.reassembly.edge());
        }
        world
    }

    /// The subflow's sender takes the distributor.
    fn hold(&mut self, subflow: usize) {
        self.distributor.pass_to(Time::ZERO, subflow);
        let srtt = Span::from_millis(10 + subflow as u64);
        let usable = self.pipes[subflow].usable;
        self.distributor.show(SubflowView { srtt, usable, ..SubflowView::default() });
    }

    fn play(&mut self, subflow: usize, event: Move) {
        self.hold(subflow);
        match event {
            Move::Send(room) => self.send(subflow, room),
            Move::Arrive(most) => (0..most).for_each(|_| self.arrive(subflow)),
            Move::Acknowledge => {
                self.pipes[subflow].usable |= !self.pipes[subflow].under_way.is_empty();
                self.distributor.on_ack(self.pipes[subflow].arrived, self.reassembly.edge());
            }
            Move::TimeOut => {
                self.distributor.on_timeout();
                self.pipes[subflow].usable = false;
            }
        }
        self.hold(subflow);
        while let Some(woken) = self.distributor.to_wake() {
            self.hold(woken);
            self.send(woken, 1);
        }
    }

    fn send(&mut self, subflow: usize, room: usize) {
        for _ in 0..room {
            if let Err(limit) = self.distributor.offer() {
                return self.distributor.note_limit(limit);
            }
            self.distributor.take();
            let pipe = &mut self.pipes[subflow];
            let segment = self.distributor.carried(subflow, pipe.sent..pipe.sent + 1).next().expect("taken");
            assert!(segment < self.reassembly.edge(), "{segment} is beyond the window");
            pipe.under_way.push_back(segment);
            pipe.sent += 1;
        }
        self.distributor.note_limit(SendLimit::Window);
    }

    fn arrive(&mut self, subflow: usize) {
        let pipe = &mut self.pipes[subflow];
        let Some(segment) = pipe.under_way.pop_front() else { return };
        let carried: Vec<u32> = self.distributor.carried(subflow, pipe.arrived..pipe.arrived + 1).collect();
        assert_eq!(carried, [segment], "the mapping says what was sent");
        pipe.arrived += 1;
        if self.reassembly.on_segment(segment) {
            self.fresh[segment as usize] += 1;
        }
    }

    fn in_order(&self) -> u32 {
        self.fresh.iter().take_while(|count| **count > 0).count() as u32
    }
}

fn any_scheduler() -> impl Strategy<Value = Scheduler> {
    prop_oneof![Just(Scheduler::Saturate), Just(Scheduler::MinRtt), Just(Scheduler::RoundRobin)]
}

proptest! {
    #[test]
    fn each_segment_arrives_once_and_within_the_window(scheduler in any_scheduler(), moves in moves()) {
        let mut world = World::new(scheduler);
        for (subflow, event) in moves {
            world.play(subflow, event);
            prop_assert!(world.fresh.iter().all(|count| *count <= 1));
            prop_assert_eq!(world.reassembly.next(), world.in_order());
            prop_assert!(u64::from(world.reassembly.waiting()) < WINDOW);
        }
        // Once all paths work again, everything arrives, and the sender knows.
        for _ in 0..SEGMENTS {
            for subflow in 0..SUBFLOWS {
                world.pipes[subflow].usable = true;
                world.play(subflow, Move::Arrive(1000));
                world.play(subflow, Move::Acknowledge);
                world.play(subflow, Move::Send(4));
            }
        }
        prop_assert_eq!(world.reassembly.next(), SEGMENTS);
        prop_assert!(world.distributor.is_finished());
        prop_assert!(world.fresh.iter().all(|count| *count == 1));
    }

    /// A path that dies for good takes nothing with it.
    #[test]
    fn two_paths_deliver_what_the_third_had(scheduler in any_scheduler(), moves in moves()) {
        let mut world = World::new(scheduler);
        for (subflow, event) in moves {
            world.play(subflow, event);
        }
        world.play(0, Move::TimeOut);
        for _ in 0..SEGMENTS {
            for subflow in 1..SUBFLOWS {
                world.pipes[subflow].usable = true;
                world.play(subflow, Move::Arrive(1000));
                world.play(subflow, Move::Acknowledge);
                world.play(subflow, Move::Send(4));
            }
        }
        prop_assert_eq!(world.reassembly.next(), SEGMENTS);
    }
}
