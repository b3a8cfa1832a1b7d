//! Bytes over time.

/// A rate in Mbit/s; `None` over no time.
#[inline]
#[must_use]
pub fn mbps(bytes: u64, seconds: f64) -> Option<f64> {
    (seconds > 0.0).then(|| bytes as f64 * 8.0 / seconds / 1e6)
}
