//! What the tests of the algorithms share: a controller by name, told in round numbers; golden files.
#![allow(dead_code, reason = "each test binary uses a part")]

pub mod connection;
pub mod modes;

use cwndlab_cc::params::Value;
use cwndlab_cc::testing::Sender;
use cwndlab_cc::{Registry, Setup, Span};
use std::path::Path;

/// Bytes of a segment: a round number, so that windows read as segments.
pub const MSS: u64 = 1000;

/// A sender with this algorithm and these settings, at an initial window of so many segments.
pub fn sender(name: &str, settings: &[(&str, Value)], initial_window: u64, rtt: Span) -> Sender {
    let settings: Vec<_> = settings.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let setup =
        Setup { mss: MSS, initial_window: initial_window * MSS, initial_ssthresh: u64::MAX, paced: false };
    let registry = Registry::built_in();
    let algorithm = registry.get(name).unwrap_or_else(|| panic!("no algorithm {name}"));
    Sender::new((algorithm.build)(&setup, &settings), MSS, rtt)
}

/// Compares a text with the golden file of this name; `CWNDLAB_BLESS=1` writes it anew.
#[expect(clippy::disallowed_methods, reason = "a golden file has to be read")]
#[track_caller]
pub fn check_golden(file: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rounds").join(file);
    if std::env::var_os("CWNDLAB_BLESS").is_some() {
        std::fs::write(&path, text).expect("the golden file can be written");
        return;
    }
    let golden = std::fs::read_to_string(&path).expect("a golden file; CWNDLAB_BLESS=1 writes it");
    let differs = text.lines().zip(golden.lines()).find(|(ours, golden)| ours != golden);
    assert_eq!(differs, None, "{file}: (now, golden); if it is meant to be so, CWNDLAB_BLESS=1");
    assert_eq!(text.lines().count(), golden.lines().count(), "{file}");
}
