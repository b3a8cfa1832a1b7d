//! Traces that need no file: a scenario names them, and they are generated when it is read.

use super::source::TraceFile;
use super::synthetic::{Synthetic, synthetic};
use std::sync::LazyLock;

/// Prefix of their names; a name with this prefix is never a path.
pub const SYNTHETIC: &str = "synthetic:";

/// A built-in trace.
pub struct BuiltIn {
    /// Its name in scenario files.
    pub name: &'static str,
    /// A summary in one sentence.
    pub summary: &'static str,
    /// Generated once per process, because each seed of a run reads its traces again.
    text: LazyLock<String>,
}

/// All built-in traces.
pub static BUILT_IN: [BuiltIn; 2] = [
    BuiltIn {
        name: "synthetic:lte-down",
        summary: "the downlink of a moving LTE receiver: 60 s, about 9 Mbit/s, with short outages",
        text: LazyLock::new(|| synthetic(&Synthetic::LTE_DOWN)),
    },
    BuiltIn {
        name: "synthetic:lte-up",
        summary: "the uplink of a moving LTE receiver: 60 s, about 5 Mbit/s, with short outages",
        text: LazyLock::new(|| synthetic(&Synthetic::LTE_UP)),
    },
];

impl BuiltIn {
    /// The trace of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        BUILT_IN.iter().find(|trace| trace.name == name)
    }

    /// Its content, in mahimahi's format.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Opens it like a file.
    #[must_use]
    pub fn open(&self) -> TraceFile<'_> {
        let text = self.text().as_bytes();
        TraceFile { reader: Box::new(text), bytes: text.len() as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::read;
    use cwndlab_cc::Span;

    /// Scenarios and papers depend on these exact bits.
    #[test]
    fn their_bits_stay() {
        let hashes = BUILT_IN.each_ref().map(|trace| {
            assert!(trace.name.starts_with(SYNTHETIC));
            read(&mut *trace.open().reader, Span::from_secs(60)).expect("a trace").hash
        });
        assert_eq!(
            hashes,
            [
                "2525f4ec1ac448e082e38553dc930f5c5d30f6fb715c96d5f7c32c6121d3466a",
                "44f924afb37904f1d912da61ce7b2f63f4d260a879ea898585c7f800121a21ad"
            ]
        );
    }
}
