//! BBRv2 and F-BBRv2 by numbers from their sources: `tcp_bbr2.c` (google/bbr v2alpha) and Cho and Cho 2024.
//!
//! `CWNDLAB_BLESS=1 cargo test -p cwndlab-cc --test bbr2` writes the snapshots anew.

#[path = "../common/mod.rs"]
mod common;

mod cycle;
mod fbbr2;
mod losses;
mod pipe;
mod windows;
