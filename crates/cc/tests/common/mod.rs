//! What the tests of the algorithms share: a controller by name, told in round numbers.

use cwndlab_cc::params::Value;
use cwndlab_cc::testing::Sender;
use cwndlab_cc::{Registry, Setup, Span};

/// Bytes of a segment: a round number, so that windows read as segments.
pub const MSS: u64 = 1000;

/// A sender with this algorithm and these settings, at an initial window of so many segments.
pub fn sender(name: &str, settings: &[(&str, Value)], initial_window: u64, rtt: Span) -> Sender {
    let settings: Vec<_> = settings.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let setup = Setup { mss: MSS, initial_window: initial_window * MSS, paced: false };
    let registry = Registry::built_in();
    let algorithm = registry.get(name).unwrap_or_else(|| panic!("no algorithm {name}"));
    Sender::new((algorithm.build)(&setup, &settings), MSS, rtt)
}
