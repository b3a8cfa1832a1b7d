//! TCP's own rules, each told as a story: what happens on the wire, what our endpoint does about it, and the
//! section of the RFC that says so. In the spirit of packetdrill.
//!
//! `script` plays the network for one sender, `peer` for one receiver, `path` puts a wire between the two.

mod path;
mod peer;
mod same_instant;
mod script;

mod any_path;
mod callbacks;
mod decisions;
mod ecn;
mod fast_recovery;
mod limits;
mod linux_2_2;
mod metrics;
mod opening;
mod pacing;
mod receiving;
mod reordering;
mod tail_probe;
mod timeout;
mod wire;
mod without_sack;
