//! The queue disciplines against their sources: RFC 8289, RFC 8290 and ns-3.37.

use cwndlab_cc::{Span, Time};
use cwndlab_sim::packet::{AckHeader, Body, Data, EcnField, Fragment, Packet};
use cwndlab_sim::queue::codel::{self, CodelParams};
use cwndlab_sim::queue::fq_codel::{self, FqCodelParams};
use cwndlab_sim::queue::ns3_default::{self, Ns3DefaultParams};
use cwndlab_sim::queue::{Backlog, Discipline, Limit, QueueSpec, Tally, Waiting};
use proptest::prelude::*;

const FULL: u32 = 1500;

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn data(flow: u32, seq: u32, bytes: u32, now: Time) -> Waiting {
    let body = Body::Data(Data { seq, sent_at: now, echo: Time::ZERO, cwr: false, push: false });
    let (ecn, fragment) = (EcnField::NotEct, Fragment::WHOLE);
    let packet = Packet { flow, generation: 0, hop: 0, ecn, size: bytes, fragment, body };
    Waiting { packet, bytes, since: now }
}

fn ack(flow: u32, now: Time) -> Waiting {
    let mut waiting = data(flow, 0, 52, now);
    waiting.packet.body = Body::Ack(AckHeader::default());
    waiting
}

fn seq(waiting: &Waiting) -> u32 {
    match waiting.packet.body {
        Body::Data(data) => data.seq,
        _ => u32::MAX,
    }
}

/// A queue and what it did.
struct Bench {
    queue: Box<dyn Discipline>,
    tally: Tally,
    ecn: EcnField,
}

impl Bench {
    fn new(spec: QueueSpec) -> Self {
        let queue = (spec.kind.build)(&spec.site(1, "link", None), &spec.settings);
        Self { queue, tally: Tally::default(), ecn: EcnField::NotEct }
    }

    fn put(&mut self, waiting: Waiting) {
        self.queue.enqueue(waiting.since, waiting, &mut self.tally);
    }

    fn get(&mut self, now: Time) -> Option<Waiting> {
        self.queue.dequeue(now, &mut self.tally)
    }

    /// The flows of the next packets, all served at once.
    fn flows(&mut self, packets: usize) -> Vec<u32> {
        (0..packets).map_while(|_| self.get(Time::ZERO)).map(|served| served.packet.flow).collect()
    }

    /// Serves a packet each millisecond, with arrivals that keep `standing` packets waiting: a delay of so many
    /// milliseconds. Gives the millisecond of each drop or mark.
    fn serve(&mut self, millis: std::ops::Range<u64>, standing: u64) -> Vec<u64> {
        let mut acted = Vec::new();
        for t in millis {
            while self.queue.backlog().packets < standing {
                let mut waiting = data(0, 0, FULL, ms(t));
                waiting.packet.ecn = self.ecn;
                self.put(waiting);
            }
            let before = self.tally;
            assert!(self.get(ms(t)).is_some() || standing == 0);
            let actions = self.tally.dropped - before.dropped + self.tally.marked - before.marked;
            acted.extend((0..actions).map(|_| t));
        }
        acted
    }
}

fn codel(change: impl Fn(&mut CodelParams)) -> Bench {
    let mut params = CodelParams::default();
    change(&mut params);
    Bench::new(QueueSpec::with(codel::QUEUE, &params))
}

fn fq_codel(change: impl Fn(&mut FqCodelParams)) -> Bench {
    let mut params = FqCodelParams { perfect_hash: true, ..FqCodelParams::default() };
    change(&mut params);
    Bench::new(QueueSpec::with(fq_codel::QUEUE, &params))
}

fn ns3() -> Bench {
    Bench::new(QueueSpec::of(ns3_default::QUEUE))
}

/// The drops that the control law asks for from `start` on, each at the first millisecond not before it: spacings are
/// 100 ms over the square root of `count`, `count` + 1 and so on.
fn law(start: u64, count: u32, drops: usize) -> Vec<u64> {
    let mut at = start as f64;
    let mut times = vec![start];
    for count in (count..).take(drops - 1) {
        at += 100.0 / f64::from(count).sqrt();
        times.push((at - 1e-4).ceil() as u64);
    }
    times
}

// The delay reaches the target at 5 ms and has stood for an interval at 105 ms.
#[test]
fn codel_drops_at_the_times_of_the_control_law() {
    let drops = codel(|_| ()).serve(0..2000, 20);
    assert_eq!(drops[..5], [105, 205, 276, 334, 384]);
    assert_eq!(drops, law(105, 1, drops.len()));
    assert!(drops.len() > 50, "{} drops", drops.len());
}

#[test]
fn codel_leaves_a_delay_below_the_target_alone() {
    assert_eq!(codel(|_| ()).serve(0..5000, 4), []);
    assert_ne!(codel(|_| ()).serve(0..5000, 6), []);
}

/// Drops when `waiting` packets have waited 50 ms or more each time that one is served.
fn drops_of_old_packets(mut bench: Bench, waiting: u64, bytes: u32) -> u64 {
    for turn in 1..100 {
        let now = ms(turn * 50);
        while bench.queue.backlog().packets < waiting {
            bench.put(data(0, 0, bytes, now - Span::from_millis(50)));
        }
        bench.get(now);
    }
    bench.tally.dropped
}

#[test]
fn codel_leaves_one_mtu_alone_however_long_it_waits() {
    let drops_with_remaining = |packets: u64, bytes| drops_of_old_packets(codel(|_| ()), packets + 1, bytes);
    assert_eq!(drops_with_remaining(1, 1500), 0);
    assert_ne!(drops_with_remaining(2, 1500), 0);
    assert_eq!(drops_with_remaining(15, 100), 0);
    assert_ne!(drops_with_remaining(16, 100), 0);
    // A larger packet makes a larger MTU.
    assert_eq!(drops_with_remaining(1, 9000), 0);
}

#[test]
fn codel_stops_dropping_below_the_target_and_waits_an_interval_again() {
    for standing in [0, 3] {
        let mut bench = codel(|_| ());
        assert_eq!(bench.serve(0..300, 20), [105, 205, 276]);
        assert_eq!(bench.serve(300..400, standing), []);
        assert_eq!(bench.serve(400..520, 20), [505]);
    }
}

// Six drops reach a count of 6 from 1; the next dropping state begins with 6 - 1.
#[test]
fn codel_goes_on_with_the_rate_it_had_if_it_had_it_recently() {
    let drops = |again: u64| {
        let mut bench = codel(|_| ());
        assert_eq!(bench.serve(0..440, 20).len(), 6);
        assert_eq!(bench.serve(440..again, 0), []);
        bench.serve(again..again + 400, 20)[..4].to_vec()
    };
    assert_eq!(drops(840), law(945, 5, 4));
    assert_eq!(drops(2440), law(2545, 1, 4));
}

#[test]
fn codel_marks_in_place_of_drops() {
    let run = |on, ecn| {
        let mut bench = codel(|params| params.ecn = on);
        bench.ecn = ecn;
        (bench.serve(0..1000, 20), bench.tally)
    };
    for ecn in [EcnField::Ect0, EcnField::Ect1, EcnField::Ce] {
        let (times, tally) = run(true, ecn);
        assert_eq!(times, law(105, 1, times.len()));
        assert_eq!(tally, Tally { dropped: 0, marked: times.len() as u64 });
    }
    for (on, ecn) in [(true, EcnField::NotEct), (false, EcnField::Ect0)] {
        let (times, tally) = run(on, ecn);
        assert_eq!(tally, Tally { dropped: times.len() as u64, marked: 0 });
    }
}

#[test]
fn codel_drops_the_tail_above_its_limit() {
    let mut bench = codel(|params| params.limit = 3);
    (0..5).for_each(|seq| bench.put(data(0, seq, FULL, Time::ZERO)));
    assert_eq!(bench.tally.dropped, 2);
    let out: Vec<u32> = std::iter::from_fn(|| bench.get(Time::ZERO)).map(|served| seq(&served)).collect();
    assert_eq!(out, [0, 1, 2]);
}

#[test]
fn fq_codel_lets_a_sparse_flow_pass_a_bulk_flow() {
    let mut bench = fq_codel(|_| ());
    let (mut sparse, mut bulk) = (Vec::new(), Vec::new());
    for t in 0..2000 {
        while bench.queue.backlog().packets < 50 {
            bench.put(data(0, 0, FULL, ms(t)));
        }
        if t % 20 == 10 {
            bench.put(data(1, 0, 200, ms(t)));
        }
        let served = bench.get(ms(t)).unwrap();
        let waits = if served.packet.flow == 1 { &mut sparse } else { &mut bulk };
        waits.push(ms(t).since(served.since));
    }
    assert_eq!(sparse, [Span::ZERO; 100]);
    assert!(bulk[100..].iter().all(|&wait| wait >= Span::from_millis(30)));
}

// Otherwise a flow would pass all others by sending a packet whenever its queue has run empty.
#[test]
fn fq_codel_keeps_an_emptied_new_queue_among_the_old_ones() {
    let mut bench = fq_codel(|_| ());
    (0..30).for_each(|i| bench.put(data(i % 3, i, FULL, Time::ZERO)));
    // Two packets exceed the quantum of 1514 bytes; then all three are old.
    assert_eq!(bench.flows(6), [0, 0, 1, 1, 2, 2]);
    bench.put(data(3, 0, 100, Time::ZERO));
    assert_eq!(bench.flows(2), [3, 0]);
    bench.put(data(3, 1, 100, Time::ZERO));
    assert_eq!(bench.flows(4), [1, 2, 3, 0]);
}

#[test]
fn fq_codel_shares_by_bytes() {
    let mut bench = fq_codel(|_| ());
    (0..200).for_each(|seq| bench.put(data(0, seq, FULL, Time::ZERO)));
    (0..1000).for_each(|seq| bench.put(data(1, seq, 300, Time::ZERO)));
    let mut bytes = [0i64; 2];
    for _ in 0..1000 {
        let served = bench.get(Time::ZERO).unwrap();
        bytes[served.packet.flow as usize] += i64::from(served.bytes);
        // A quantum, and what a packet may exceed it by.
        assert!((bytes[0] - bytes[1]).abs() <= 1514 + 1500, "{bytes:?}");
    }
    assert!(bytes[0] > 200_000);
}

#[test]
fn fq_codel_drops_half_of_the_fattest_queue_from_its_head() {
    let mut bench = fq_codel(|params| params.limit = 50);
    // More packets, but fewer bytes.
    (0..30).for_each(|seq| bench.put(data(1, seq, 100, Time::ZERO)));
    (0..20).for_each(|seq| bench.put(data(0, seq, FULL, Time::ZERO)));
    assert_eq!(bench.tally.dropped, 0);
    bench.put(data(2, 0, 100, Time::ZERO));
    assert_eq!(bench.tally.dropped, 10);
    assert_eq!(bench.queue.backlog(), Backlog { packets: 41, bytes: 31 * 100 + 10 * 1500 });
    let left: Vec<Waiting> = std::iter::from_fn(|| bench.get(Time::ZERO)).collect();
    let of_flow = |flow| left.iter().filter(move |waiting| waiting.packet.flow == flow);
    assert_eq!([0, 1, 2].map(|flow| of_flow(flow).count()), [10, 30, 1]);
    assert!(of_flow(0).map(seq).eq(10..20));
}

#[test]
fn an_overflow_drops_at_most_64() {
    let mut bench = fq_codel(|params| params.limit = 400);
    (0..401).for_each(|seq| bench.put(data(0, seq, FULL, Time::ZERO)));
    assert_eq!(bench.tally.dropped, 64);
}

#[test]
fn flows_share_a_queue_unless_the_hash_is_perfect() {
    let order = |perfect_hash| {
        let mut bench = fq_codel(|params| (params.flows, params.perfect_hash) = (1, perfect_hash));
        (0..4).for_each(|seq| bench.put(data(0, seq, FULL, Time::ZERO)));
        bench.put(data(1, 0, FULL, Time::ZERO));
        bench.put(ack(0, Time::ZERO));
        let all = std::iter::from_fn(|| bench.get(Time::ZERO));
        all.map(|served| (served.packet.flow, served.bytes)).collect::<Vec<_>>()
    };
    assert_eq!(order(false), [(0, FULL), (0, FULL), (0, FULL), (0, FULL), (1, FULL), (0, 52)]);
    assert_eq!(order(true), [(0, FULL), (0, FULL), (1, FULL), (0, 52), (0, FULL), (0, FULL)]);
}

#[test]
fn fq_codel_runs_codel_on_each_queue() {
    for (ecn, dropped, marked) in [(EcnField::NotEct, 5, 0), (EcnField::Ect0, 0, 5)] {
        let mut bench = fq_codel(|_| ());
        bench.ecn = ecn;
        assert_eq!(bench.serve(0..400, 20), [105, 205, 276, 334, 384]);
        assert_eq!(bench.tally, Tally { dropped, marked });
    }
}

#[test]
fn ns3_default_hides_the_delay_of_the_device_from_codel() {
    // Below 5 ms in the discipline, above 100 in all.
    let mut bench = ns3();
    assert_eq!(bench.serve(0..3000, 104), []);
    let served = bench.get(ms(3000)).unwrap();
    assert_eq!(ms(3000).since(served.since), Span::from_millis(103));
    // 10 ms in the discipline: above the target from 5 ms on, and the spacings of ns-3's Newton steps.
    assert_eq!(ns3().serve(0..350, 110), [105, 205, 256, 312]);
}

// ns-3 asks for 1500 bytes that remain, the RFC for more than 1500.
#[test]
fn ns3_default_may_drop_with_one_full_packet_remaining() {
    let params = Ns3DefaultParams { device: 1, ..Ns3DefaultParams::default() };
    let drops_with_remaining = |bytes| {
        let bench = Bench::new(QueueSpec::with(ns3_default::QUEUE, &params));
        // One more in the device, and the one that goes there.
        drops_of_old_packets(bench, 3, bytes)
    };
    assert_eq!(drops_with_remaining(1499), 0);
    assert_ne!(drops_with_remaining(1500), 0);
}

#[test]
fn ns3_default_lets_nothing_overtake_in_the_device() {
    let mut bench = ns3();
    (0..150).for_each(|seq| bench.put(data(0, seq, FULL, Time::ZERO)));
    bench.put(ack(1, Time::ZERO));
    let flows = bench.flows(151);
    assert_eq!(flows.iter().position(|&flow| flow == 1), Some(100));
}

#[test]
fn ns3_default_counts_what_waits_in_both_stages() {
    let mut bench = ns3();
    (0..10_340).for_each(|seq| bench.put(data(0, seq, FULL, Time::ZERO)));
    assert_eq!(bench.tally.dropped, 0);
    assert_eq!(bench.queue.backlog(), Backlog { packets: 10_340, bytes: 10_340 * 1500 });
    bench.put(data(0, 0, FULL, Time::ZERO));
    assert_eq!(bench.tally.dropped, 64);
}

#[derive(Clone, Debug)]
enum Step {
    Arrive { flow: u32, bytes: u32, ecn: EcnField, burst: u32 },
    Serve(u32),
    Wait(Span),
}

fn step() -> impl Strategy<Value = Step> {
    let ecn = prop_oneof![Just(EcnField::NotEct), Just(EcnField::Ect0), Just(EcnField::Ect1)];
    prop_oneof![
        4 => (0..6u32, 40..3000u32, ecn, 1..30u32)
            .prop_map(|(flow, bytes, ecn, burst)| Step::Arrive { flow, bytes, ecn, burst }),
        4 => (1..20u32).prop_map(Step::Serve),
        2 => (0..150_000u64).prop_map(|us| Step::Wait(Span::from_micros(us))),
    ]
}

fn disciplines() -> impl Strategy<Value = QueueSpec> {
    prop_oneof![
        (1..60u64).prop_map(|limit| QueueSpec::droptail(Limit::Packets(limit))),
        (1000..90_000u64).prop_map(|limit| QueueSpec::droptail(Limit::Bytes(limit))),
        (1..200u64, any::<bool>()).prop_map(|(limit, ecn)| {
            QueueSpec::with(codel::QUEUE, &CodelParams { limit, ecn, ..CodelParams::default() })
        }),
        (1..200u64, 1..8u64, 64..4000u64, any::<bool>()).prop_map(|(limit, flows, quantum, perfect_hash)| {
            let rest = FqCodelParams::default();
            QueueSpec::with(fq_codel::QUEUE, &FqCodelParams { limit, flows, quantum, perfect_hash, ..rest })
        }),
        (1..150u64, any::<bool>()).prop_map(|(device, ecn)| {
            QueueSpec::with(ns3_default::QUEUE, &Ns3DefaultParams { device, ecn })
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn the_books_balance(spec in disciplines(), mut steps in prop::collection::vec(step(), 1..80)) {
        let mut bench = Bench::new(spec);
        let mut now = Time::ZERO;
        let mut sizes: Vec<u32> = Vec::new();
        let mut out: Vec<Waiting> = Vec::new();
        let (mut bytes_in, mut bytes_out) = (0, 0);
        // At last the queue is emptied.
        steps.push(Step::Serve(u32::MAX));
        for step in steps {
            match step {
                Step::Wait(span) => now += span,
                Step::Arrive { flow, bytes, ecn, burst } => for _ in 0..burst {
                    let mut waiting = data(flow, sizes.len() as u32, bytes, now);
                    waiting.packet.ecn = ecn;
                    // The link's header, which ns-3's discipline does not see.
                    waiting.packet.size = bytes - 2;
                    sizes.push(bytes);
                    bytes_in += u64::from(bytes);
                    bench.put(waiting);
                },
                Step::Serve(most) => for _ in 0..most {
                    let before = bench.queue.backlog();
                    let Some(served) = bench.get(now) else {
                        prop_assert_eq!(before, Backlog::default());
                        break;
                    };
                    prop_assert!(before.packets > 0 && now >= served.since);
                    bytes_out += u64::from(served.bytes);
                    out.push(served);
                },
            }
            let backlog = bench.queue.backlog();
            prop_assert_eq!(sizes.len() as u64, out.len() as u64 + bench.tally.dropped + backlog.packets);
            let bytes_dropped = bytes_in - bytes_out - backlog.bytes;
            prop_assert!(bytes_dropped >= 40 * bench.tally.dropped);
            prop_assert!(bytes_dropped <= 3000 * bench.tally.dropped);
        }
        prop_assert_eq!(bench.queue.backlog(), Backlog::default());
        let marked = out.iter().filter(|served| served.packet.ecn == EcnField::Ce).count();
        prop_assert_eq!(marked as u64, bench.tally.marked);
        prop_assert!(out.iter().all(|served| served.bytes == sizes[seq(served) as usize]));
        // Within a flow the order stays, and nothing comes twice.
        for flow in 0..6 {
            let of_flow = out.iter().filter(|served| served.packet.flow == flow).map(seq);
            prop_assert!(of_flow.is_sorted_by(|a, b| a < b));
        }
    }
}
