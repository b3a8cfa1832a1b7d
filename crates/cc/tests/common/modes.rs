//! The modes of BBRv2 and BBRv3, as their probe `mode` tells them.
#![allow(dead_code, reason = "each test binary uses a part")]

pub const STARTUP: f64 = 0.0;
pub const DRAIN: f64 = 1.0;
pub const DOWN: f64 = 2.0;
pub const CRUISE: f64 = 3.0;
pub const REFILL: f64 = 4.0;
pub const UP: f64 = 5.0;
pub const PROBE_RTT: f64 = 6.0;
