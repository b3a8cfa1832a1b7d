//! LIA, OLIA and BALIA by numbers: one subflow is plain TCP, several are together one TCP, and each moves windows as its source says.
mod common;

use common::MSS;
use common::connection::{Connection, Start};
use cwndlab_cc::Span;
use cwndlab_cc::params::Value;

const RTT: Span = Span::from_millis(100);
const COUPLED: [&str; 3] = ["lia", "olia", "balia"];

fn acks() -> [(&'static str, Value); 1] {
    [("counting", Value::Word("acks"))]
}

/// Past slow start, with these windows in segments and these RTTs.
fn connection(name: &str, paths: &[(u64, Span)]) -> Connection {
    let start = |(window, rtt): &(u64, Span)| Start { name, settings: &[], window: 2 * window, rtt: *rtt };
    let mut connection = Connection::new(&paths.iter().map(start).collect::<Vec<_>>());
    (0..paths.len()).for_each(|subflow| halve(&mut connection, subflow));
    connection
}

/// BALIA may cut by more than half while windows are not yet those wanted, so its are opened with the others away.
fn halve(connection: &mut Connection, subflow: usize) {
    let sender = &mut connection.subflows[subflow].sender;
    sender.subflows = vec![Default::default(); sender.me + 1];
    sender.lose();
}

/// Growth of a subflow in segments for one segment acknowledged.
fn growth(connection: &mut Connection, subflow: usize) -> f64 {
    let before = connection.windows()[subflow];
    // Whole bytes: a hundred tell the growth to 1/100 of one.
    const TIMES: usize = 100;
    (0..TIMES).for_each(|_| connection.ack(subflow));
    (connection.windows()[subflow] - before) / TIMES as f64
}

fn assert_close(ours: f64, wanted: f64, share: f64) {
    assert!((ours / wanted - 1.0).abs() < share, "{ours} for {wanted}");
}

/// Segments a second with a loss every so many segments: RFC 6356 and the two drafts are AIMD like Reno's.
fn reno(loss_every: u64, rtt: Span) -> f64 {
    (1.5 * loss_every as f64).sqrt() / rtt.as_secs_f64()
}

// ---------------------------------------------------------------------------------------------------------------
// What all three have in common
// ---------------------------------------------------------------------------------------------------------------

#[test]
fn one_subflow_grows_and_shrinks_as_reno() {
    for name in COUPLED {
        let mut alone = Connection::alike(name, &[], 1, 80, RTT);
        let mut reno = Connection::alike("reno", &[], 1, 80, RTT);
        for _ in 0..30 {
            alone.pass(RTT, &[0]);
            reno.pass(RTT, &[0]);
            assert!((alone.windows()[0] - reno.windows()[0]).abs() < 1.5, "{name}: {:?}", alone.windows());
        }
        let before = alone.windows()[0];
        alone.lose(0);
        assert_close(alone.windows()[0], before / 2.0, 1e-3);
    }
}

/// With equal paths all three have (w / rtt^2) / (2 w / rtt)^2 = 1 / (4 w): a quarter of a segment a round trip each.
#[test]
fn two_equal_subflows_grow_by_a_quarter_each() {
    for name in COUPLED {
        let mut both = Connection::alike(name, &[], 2, 200, RTT);
        (0..40 * 100).for_each(|_| (0..2).for_each(|subflow| both.ack(subflow)));
        for window in both.windows() {
            assert!((window - 110.0).abs() < 0.6, "{name}: 100 and forty quarters, not {window}");
        }
    }
}

/// RFC 6356's second goal on one bottleneck: with the same losses the sum is what one TCP would have.
#[test]
fn two_equal_subflows_are_one_tcp() {
    const LOSS_EVERY: u64 = 1000;
    for name in COUPLED {
        let mut both = Connection::alike(name, &[], 2, 40, RTT);
        // Out of step.
        both.pass(Span::from_secs(30), &[LOSS_EVERY, LOSS_EVERY * 4 / 5]);
        let rates = both.rates(Span::from_secs(400), &[LOSS_EVERY; 2]);
        assert_close(rates.iter().sum(), reno(LOSS_EVERY, RTT), 0.06);
    }
}

#[test]
fn counting_acks_halves_growth_with_delayed_acks() {
    for name in COUPLED {
        let grown = |settings: &[(&str, Value)]| {
            let mut both = Connection::alike(name, settings, 2, 200, RTT);
            both.segments_per_ack = 2;
            (0..1000).for_each(|_| both.ack(0));
            both.windows()[0] - 100.0
        };
        assert_close(grown(&acks()), grown(&[]) / 2.0, 0.02);
    }
}

// ---------------------------------------------------------------------------------------------------------------
// LIA
// ---------------------------------------------------------------------------------------------------------------

/// RFC 6356 equation (2) by hand: 1290 x 124 000 / 14 067^2 = 0.808.
#[test]
fn lias_alpha_is_that_of_rfc_6356() {
    let mut both = connection("lia", &[(1240, RTT), (50, Span::from_millis(30))]);
    both.ack(0);
    assert_close(both.probe(0, "alpha"), 0.8084, 1e-3);
    assert_close(growth(&mut both, 0), 0.8084 / 1290.0, 0.02);
    assert_close(growth(&mut both, 1), 0.8084 / 1290.0, 0.02);
}

/// Equation (1): never more than one TCP. 1010 x 100 000 / 2000^2 = 25.25, so alpha / W is 1/40, more than 1/1000.
#[test]
fn lia_on_no_path_grows_faster_than_tcp() {
    let mut both = connection("lia", &[(10, Span::from_millis(10)), (1000, Span::from_secs(1))]);
    both.ack(1);
    assert_close(both.probe(1, "alpha"), 25.25, 1e-3);
    assert_close(growth(&mut both, 1), 1.0 / 1000.0, 0.01);
    assert_close(growth(&mut both, 0), 25.25 / 1010.0, 0.02);
}

/// What alpha is made for (RFC 6356 section 3): with the same loss rate on paths of different RTTs the connection has, in sum, what one
/// TCP has on the best of them: x1 + x2 = sqrt(3 / (2 p)) / rtt1 if path 1 has the largest w / rtt^2.
#[test]
fn lia_has_in_sum_what_one_tcp_has_on_the_best_path() {
    const LOSS_EVERY: u64 = 2000;
    for (rtt1, rtt2) in [(50, 100), (20, 200), (100, 100)] {
        let (rtt1, rtt2) = (Span::from_millis(rtt1), Span::from_millis(rtt2));
        let mut both = connection("lia", &[(40, rtt1), (40, rtt2)]);
        both.pass(Span::from_secs(60), &[LOSS_EVERY, LOSS_EVERY * 4 / 5]);
        let rates = both.rates(Span::from_secs(600), &[LOSS_EVERY; 2]);
        assert_close(rates.iter().sum(), reno(LOSS_EVERY, rtt1), 0.08);
    }
}

/// RFC 6356's third goal: a path with ten times the losses gets less than its share.
#[test]
fn all_three_move_away_from_losses_and_olia_most() {
    let share = |name| {
        let mut both = Connection::alike(name, &[], 2, 80, RTT);
        both.pass(Span::from_secs(60), &[4000, 400]);
        let rates = both.rates(Span::from_secs(600), &[4000, 400]);
        rates[1] / (rates[0] + rates[1])
    };
    let [lia, olia, balia] = COUPLED.map(share);
    // Two Renos: sqrt(1/10) : 1.
    let uncoupled = share("reno");
    assert_close(uncoupled, 0.2403, 0.03);
    assert!(olia < balia && balia < lia && lia < uncoupled, "{olia} {balia} {lia} {uncoupled}");
}

/// ACKs of a subflow until its window has grown by a segment.
fn acks_for_a_segment(connection: &mut Connection, subflow: usize) -> usize {
    let before = connection.windows()[subflow];
    (1..=10_000)
        .find(|_| {
            connection.ack(subflow);
            connection.windows()[subflow] > before
        })
        .expect("growth")
}

/// Linux MPTCP v0.9x mptcp_coupled.c: alpha / W is a whole number of 4096ths. Counts up to 4096 of it, and one ACK more.
#[test]
fn lia_in_the_kernels_arithmetic_grows_in_whole_steps() {
    let kernel = [("arithmetic", Value::Word("kernel"))];
    let start = |window, rtt| Start { name: "lia", settings: &kernel, window: 2 * window, rtt };
    let grown = |long: u64| {
        let mut both = Connection::new(&[start(long, RTT), start(50, Span::from_millis(30))]);
        (0..2).for_each(|subflow| both.lose(subflow));
        acks_for_a_segment(&mut both, 0)
    };
    // (w / rtt^2) / (sum of w / rtt)^2 is 1 / 1595 for 1240 segments: 2.57 of 4096.
    assert_eq!(grown(1240), 2049);
    // 1 / 1350: 3.03.
    assert_eq!(grown(990), 1366);
    // 1 / 3361: 1.22. 1 / 9349: 0.44, and one at least.
    assert_eq!((grown(3010), grown(9010)), (4097, 9011));
    // RFC 6356 equation (1): never more than one TCP; with 30 segments both grow by themselves.
    assert!(grown(30) > 30);
}

#[test]
fn in_the_kernels_arithmetic_one_subflow_grows_by_a_segment_in_a_window_and_one_ack() {
    let kernel = [("arithmetic", Value::Word("kernel"))];
    let mut alone = Connection::alike("lia", &kernel, 1, 80, RTT);
    assert_eq!(acks_for_a_segment(&mut alone, 0), 41);
    // What was counted is forgotten at a loss, and half of 41 is 20.
    (0..30).for_each(|_| alone.ack(0));
    alone.lose(0);
    assert_eq!(alone.windows()[0], 20.0);
    assert_eq!(acks_for_a_segment(&mut alone, 0), 21);
}

/// The modules of Linux MPTCP v0.9x count `snd_cwnd` and `snd_ssthresh` in segments; the RFC and the drafts count bytes.
#[test]
fn ssthresh_has_whole_segments_where_the_kernel_counts_them() {
    let kernel = [
        ("lia", "arithmetic", "kernel"),
        ("olia", "counting", "acks"),
        ("olia", "arithmetic", "kernel"),
        ("balia", "cut", "kernel"),
        ("balia", "arithmetic", "kernel"),
    ];
    for (name, key, word) in kernel {
        let settings = [(key, Value::Word(word))];
        let halved = |settings: &[(&'static str, Value)]| {
            let mut alone = Connection::alike(name, settings, 1, 82, RTT);
            alone.lose(0);
            alone.windows()[0]
        };
        assert_eq!((halved(&settings), halved(&[])), (20.0, 20.5), "{name}");
    }
}

// ---------------------------------------------------------------------------------------------------------------
// OLIA
// ---------------------------------------------------------------------------------------------------------------

/// Path 0 has the larger window, path 1 lost least: what 1 gains by 1/2, 0 loses (n = 2, one path in each set).
#[test]
fn olia_moves_towards_the_path_that_lost_least() {
    let mut both = connection("olia", &[(100, RTT), (50, RTT)]);
    (0..10).for_each(|_| both.ack(1));
    both.ack(0);
    assert_eq!((both.probe(0, "alpha"), both.probe(1, "alpha")), (-0.5, 0.5));
    // (w / rtt^2) / (sum of w / rtt)^2 + alpha / w = 50 / 150^2 + 0.5 / 50.
    assert_close(growth(&mut both, 1), 50.0 / 22_500.0 + 0.01, 0.02);
}

/// A path that is best and has the largest window has nothing to gain, and then nobody loses.
#[test]
fn olia_leaves_windows_alone_where_the_best_path_has_the_largest() {
    let mut both = connection("olia", &[(100, RTT), (50, RTT)]);
    (0..200).for_each(|_| both.ack(0));
    both.ack(1);
    assert_eq!((both.probe(0, "alpha"), both.probe(1, "alpha")), (0.0, 0.0));
    assert_close(growth(&mut both, 1), 50.0 / 22_500.0, 0.03);
}

/// l / rtt^2: with the same bytes between losses, the shorter path is the better one.
#[test]
fn olias_best_path_goes_by_the_rtt_squared() {
    let mut three = connection("olia", &[(100, RTT), (60, Span::from_millis(50)), (100, RTT)]);
    // 3000 bytes at 100 ms rate 3, 1000 bytes at 50 ms rate 4.
    (0..3).for_each(|_| three.ack(0));
    three.ack(1);
    three.ack(2);
    three.ack(1);
    // Two paths have the largest window: each loses 1 / (3 x 2), the best one gains 1 / 3.
    assert_eq!((three.probe(1, "alpha"), three.probe(2, "alpha")), (1.0 / 3.0, -1.0 / 6.0));
}

/// Two subflows with these windows in segments, in the arithmetic of their module of Linux MPTCP.
fn in_kernel_arithmetic(name: &str, windows: [u64; 2]) -> Connection {
    let settings = [("counting", Value::Word("acks")), ("arithmetic", Value::Word("kernel"))];
    let start = |window| Start { name, settings: &settings, window: 2 * window, rtt: RTT };
    let mut both = Connection::new(&windows.map(start));
    (0..2).for_each(|subflow| halve(&mut both, subflow));
    both
}

/// Linux MPTCP v0.9x mptcp_olia.c: an ACK counts for a whole number of 1024ths of a segment. 1 / 400 of a segment with two
/// windows of 100 is 2.56 of them, which count as 2: 512 ACKs instead of 400.
#[test]
fn olia_in_the_kernels_arithmetic_moves_in_whole_steps() {
    let mut equal = in_kernel_arithmetic("olia", [100, 100]);
    assert_eq!(acks_for_a_segment(&mut equal, 0), 512);
    // 1 / 1200 is less than a 1024th: nothing.
    let mut large = in_kernel_arithmetic("olia", [300, 300]);
    (0..5000).for_each(|_| large.ack(0));
    assert_eq!(large.windows(), [300.0, 300.0]);
    // 10 / 30^2 + 1 / 20 is 62.6 1024ths; 1023 make a segment.
    let mut moving = in_kernel_arithmetic("olia", [20, 10]);
    assert_eq!(acks_for_a_segment(&mut moving, 1), 17);
}

/// Path 1 has 600 segments between losses and the smaller window, so path 0 shrinks: 20 / 32^2 - 1 / 40 of a segment is -5.6
/// 1024ths, which count as -5.
#[test]
fn olia_in_the_kernels_arithmetic_takes_whole_segments() {
    let mut both = in_kernel_arithmetic("olia", [20, 10]);
    (0..600).for_each(|_| both.ack(1));
    both.lose(1);
    assert_eq!(both.windows(), [20.0, 12.0]);
    (0..204).for_each(|_| both.ack(0));
    assert_eq!((both.windows()[0], both.probe(0, "alpha")), (20.0, -0.5));
    both.ack(0);
    assert_eq!(both.windows(), [19.0, 12.0]);
}

// ---------------------------------------------------------------------------------------------------------------
// BALIA
// ---------------------------------------------------------------------------------------------------------------

/// Rates of 2 and 1: alpha is 1 and 2; growth x / (rtt (sum of x)^2) (1 + alpha) / 2 (4 + alpha) / 5.
#[test]
fn balia_grows_by_how_a_rate_compares_with_the_largest() {
    let mut both = connection("balia", &[(100, RTT), (50, RTT)]);
    (0..2).for_each(|subflow| both.ack(subflow));
    assert_close(both.probe(0, "alpha"), 1.0, 1e-9);
    assert_close(both.probe(1, "alpha"), 2.0, 1e-3);
    assert_close(growth(&mut both, 0), 100.0 / 22_500.0, 0.01);
    assert_close(growth(&mut both, 1), 50.0 / 22_500.0 * 1.5 * 1.2, 0.02);
}

/// A loss takes min(alpha, 1.5) halves: all rates equal 1/2; 1.2 times as slow 0.6; from 1.5 on 3/4.
#[test]
fn balia_cuts_slow_paths_by_more() {
    for (window, left) in [(120, 0.5), (100, 0.4), (80, 0.25), (40, 0.25)] {
        let mut both = connection("balia", &[(120, RTT), (window, RTT)]);
        both.lose(1);
        assert_close(both.windows()[1], window as f64 * left, 1e-3);
    }
    let mut alone = Connection::alike("balia", &[], 1, 200, RTT);
    alone.lose(0);
    assert_eq!(alone.subflows[0].sender.cc.control().cwnd, 50 * MSS);
}

/// Linux MPTCP v0.9x mptcp_balia.c: alpha_r is a whole number, so the cut is a half or three quarters.
#[test]
fn balia_cuts_as_the_kernel_does_by_a_half_or_three_quarters() {
    for (window, left) in [(120, 60.0), (100, 50.0), (61, 31.0), (60, 15.0), (40, 10.0)] {
        let mut both = Connection::new(&[balia_of_the_kernel(120), balia_of_the_kernel(window)]);
        both.lose(1);
        assert_eq!(both.windows()[1], left, "{window}");
    }
    let mut alone = Connection::new(&[balia_of_the_kernel(200)]);
    alone.lose(0);
    assert_eq!(alone.subflows[0].sender.cc.control().cwnd, 100 * MSS);
}

const OF_THE_KERNEL: [(&str, Value); 1] = [("cut", Value::Word("kernel"))];

fn balia_of_the_kernel(window: u64) -> Start<'static> {
    Start { name: "balia", settings: &OF_THE_KERNEL, window, rtt: RTT }
}

/// Linux MPTCP v0.9x mptcp_balia.c: growth is by a segment for a whole number of ACKs, and one more. With rates of 2 and 1
/// these are 225 and 250, as in the draft.
#[test]
fn balia_in_the_kernels_arithmetic_grows_by_whole_segments() {
    assert_eq!(acks_for_a_segment(&mut in_kernel_arithmetic("balia", [100, 50]), 0), 226);
    assert_eq!(acks_for_a_segment(&mut in_kernel_arithmetic("balia", [100, 50]), 1), 251);
    // Rates of more than 2^25 bytes a second lose their last bits: 4 w with two equal paths, all the same.
    assert_eq!(acks_for_a_segment(&mut in_kernel_arithmetic("balia", [2000, 2000]), 0), 8001);
    let kernel = [("arithmetic", Value::Word("kernel"))];
    assert_eq!(acks_for_a_segment(&mut Connection::alike("balia", &kernel, 1, 80, RTT), 0), 41);
}

/// The number is that of the rates when the window last grew.
#[test]
fn balia_in_the_kernels_arithmetic_keeps_its_number_until_the_window_grows() {
    let mut both = in_kernel_arithmetic("balia", [100, 50]);
    both.ack(1);
    both.subflows[0].sender.facts.rtt.smoothed = Span::from_millis(40);
    assert_eq!(acks_for_a_segment(&mut both, 1), 250);
    // Rates of 5 and 1.02 from then on: (6.02)^2 10 51 / ((1.02 + 5) (4.08 + 5)).
    assert_eq!(acks_for_a_segment(&mut both, 1), 339);
}

/// And it is the cut of the rates when the window last grew by a segment, not of those at the loss.
#[test]
fn balias_cut_in_the_kernel_is_that_of_the_last_growth() {
    let cut = |settings: &'static [(&'static str, Value)]| {
        let start = || Start { name: "balia", settings, window: 200, rtt: RTT };
        let mut both = Connection::new(&[start(), start()]);
        (0..2).for_each(|subflow| halve(&mut both, subflow));
        // In congestion avoidance both have 100 segments, and the second one has calculated its cut.
        both.ack(1);
        // The first then has twice the rate of the second, which has not grown since.
        both.subflows[0].sender.facts.rtt.smoothed = Span::from_millis(40);
        let before = both.windows()[1];
        both.lose(1);
        (both.windows()[1] / before * 100.0).round()
    };
    assert_eq!((cut(&[]), cut(&OF_THE_KERNEL)), (25.0, 50.0));
}
