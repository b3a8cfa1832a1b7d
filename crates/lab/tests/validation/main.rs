//! The simulator against theory, ns-3 and the Linux kernel. Every table of `docs/validation.md` is made here.

mod dumbbell;
mod jitter;
mod kernel_bbr;
mod linux;
mod ns3;
mod ns3_bbr;
mod reference;
mod stalls;
mod stats;
mod table;
mod theory;
