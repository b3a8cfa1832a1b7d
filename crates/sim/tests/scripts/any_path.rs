//! Whatever a wire does to packets for a while, all data arrive in the end.

use crate::path::{Path, WAY};
use crate::script::{Opening, linux, ns3};
use cwndlab_cc::{Rng, Span, Time};
use cwndlab_sim::tcp::{LossDetection, Recovery};
use proptest::prelude::*;

/// How bad a wire is, in per cent, and how many packets it takes until it behaves.
#[derive(Clone, Copy, Debug)]
struct Weather {
    lost: u64,
    late: u64,
    doubled: u64,
    jitter_us: u64,
    packets: u64,
}

fn weather() -> impl Strategy<Value = Weather> {
    (0u64..40, 0u64..30, 0u64..20, 0u64..3000, 1u64..600).prop_map(
        |(lost, late, doubled, jitter_us, packets)| Weather { lost, late, doubled, jitter_us, packets },
    )
}

/// From then on the wire behaves in any case.
const BETTER: Time = Time(600_000_000_000);

/// Any profile with any options.
fn opening(sack: bool) -> impl Strategy<Value = Opening> {
    let recovery = prop_oneof![
        Just(Recovery::Prr),
        Just(Recovery::PrrNs3),
        Just(Recovery::Window),
        Just(Recovery::Reno)
    ];
    let detection = prop_oneof![Just(LossDetection::Rack), Just(LossDetection::Sack)];
    let flags = prop::array::uniform6(any::<bool>());
    let algorithm = prop_oneof![Just("reno"), Just("newreno"), Just("cubic")];
    (flags, recovery, detection, algorithm, 1u64..20, 1u64..4, 0u64..3, 1u64..400_000).prop_map(
        move |(flags, recovery, detection, algorithm, initial_window, delayed_ack, clock_ms, bytes)| {
            let [is_linux, probe, undo, ecn, validation, small_buffer] = flags;
            let opening = if is_linux { linux() } else { ns3() };
            opening.cc(algorithm).bytes(bytes).with(|tcp| {
                (tcp.sack, tcp.tail_loss_probe, tcp.undo, tcp.ecn) = (sack, probe, undo, ecn);
                (tcp.recovery, tcp.loss_detection, tcp.window_validation) = (recovery, detection, validation);
                (tcp.initial_window, tcp.delayed_ack) = (initial_window, delayed_ack);
                tcp.clock = Span::from_millis(clock_ms);
                if small_buffer {
                    tcp.receive_buffer = 20_000;
                }
            })
        },
    )
}

impl std::fmt::Debug for Opening {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.options)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    /// The wire loses, delays, reorders and doubles packets, then behaves. `Path` checks at every step that the clock
    /// goes on, that no more is counted in flight than can be, and that the window is at least one segment.
    #[test]
    fn all_data_arrive(opening in any::<bool>().prop_flat_map(opening), weather in weather(), seed in any::<u64>()) {
        let mut rng = Rng::named(seed, "weather");
        let mut left = weather.packets;
        let mut path = Path::of(opening).fates(move |_, now| {
            let mut way = || {
                let late = if rng.below(100) < weather.late { rng.below(400_000) } else { 0 };
                WAY * 1000 + late + rng.below(weather.jitter_us + 1)
            };
            if left == 0 || now > BETTER {
                return vec![WAY * 1000];
            }
            left -= 1;
            let ways = [way(), way()];
            let copies = if rng.below(100) < weather.lost { 0 } else { 1 + usize::from(rng.below(100) < weather.doubled) };
            ways[..copies].to_vec()
        });
        // A day: by then timeouts may have backed off to an hour.
        path.run(24 * 3_600_000).expect_finished();
    }
}
