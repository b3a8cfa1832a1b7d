//! Prefetching: while one event is handled, the processor loads what later events will touch. This changes
//! only the run time. With a thousand flows, each event would otherwise find its flow outside the near
//! caches.

use cwndlab_cc::Time;
use std::collections::VecDeque;

/// Bytes of a cache line.
pub const LINE: usize = 64;

/// Up to this number of flows stay in the cache by themselves, and prefetching would only cost instructions.
pub const FEW_FLOWS: usize = 32;

/// Prefetches this number of bytes from the address of `from` on, whatever they hold.
#[inline(always)]
pub fn fetch<T: ?Sized>(from: &T, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(sse) = pulp::core_arch::x86::Sse::try_new() {
        let from = std::ptr::from_ref(from).cast::<i8>();
        for offset in (0..bytes).step_by(LINE) {
            sse._mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(from.wrapping_add(offset));
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (from, bytes);
}

/// The senders that get an ACK next, as far as that is known without a search: in the order in which the ACKs
/// were sent. Where delays differ this is a guess; a wrong guess costs a little time.
#[derive(Debug, Default)]
pub struct Coming(VecDeque<(Time, u32)>);

impl Coming {
    /// An ACK arrives for this flow at `at`.
    #[inline]
    pub fn push(&mut self, at: Time, flow: u32) {
        self.0.push_back((at, flow));
    }

    /// The flow whose sender gets the next ACK after `now`, and the flow of the ACK after that.
    #[inline]
    pub fn after(&mut self, now: Time) -> [Option<u32>; 2] {
        while self.0.front().is_some_and(|(at, _)| *at <= now) {
            self.0.pop_front();
        }
        [0, 1].map(|n| self.0.get(n).map(|(_, flow)| *flow))
    }
}
