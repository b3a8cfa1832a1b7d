//! Where a sender gets its data.

use super::options::TcpOptions;
use crate::mptcp::Distributor;
use cwndlab_cc::{SendLimit, SubflowView};

/// A stream of bytes, cut into segments that are numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    mss: u64,
    /// Number of segments; [`ENDLESS`] for a stream without end.
    segments: u32,
    /// How many of them the application has written; all, unless there is a send buffer.
    ready: u32,
    /// Segments that the application writes at a time; 0: all at once.
    written: u32,
    /// Payload of the last one in bytes.
    last: u16,
    /// The application writes it into a send buffer.
    buffered: bool,
}

/// More segments than any run sends.
const ENDLESS: u32 = u32::MAX;

impl Stream {
    /// A stream in segments of `mss` bytes, all written at once; `bytes` is its length, if it has an end.
    #[must_use]
    pub fn new(mss: u64, bytes: Option<u64>) -> Self {
        let Some(bytes) = bytes else {
            return Self {
                mss,
                segments: ENDLESS,
                ready: ENDLESS,
                written: 0,
                last: mss as u16,
                buffered: false,
            };
        };
        let segments = bytes.div_ceil(mss) as u32;
        Self {
            mss,
            segments,
            ready: segments,
            written: 0,
            last: (1 + (bytes.max(1) - 1) % mss) as u16,
            buffered: false,
        }
    }

    /// The stream of a connection with these options.
    #[must_use]
    pub fn of(options: &TcpOptions, bytes: Option<u64>) -> Self {
        let written = (options.write_size / options.mss).max(1);
        Self { written: u32::try_from(written).unwrap_or(0), ..Self::new(options.mss, bytes) }
    }

    /// Payload of a full segment in bytes.
    #[inline]
    #[must_use]
    pub fn mss(&self) -> u64 {
        self.mss
    }

    /// Whether it has this segment.
    #[inline]
    #[must_use]
    pub fn has(&self, segment: u32) -> bool {
        segment < self.segments
    }

    /// Whether the application has written this segment.
    #[inline]
    #[must_use]
    pub fn is_ready(&self, segment: u32) -> bool {
        segment < self.ready
    }

    /// The application has written this many segments into a send buffer.
    pub fn write(&mut self, segments: u32) {
        (self.ready, self.buffered) = (segments.min(self.segments), true);
    }

    /// Its length in segments, if it has an end.
    #[inline]
    #[must_use]
    pub fn segments(&self) -> Option<u32> {
        (self.segments != ENDLESS).then_some(self.segments)
    }

    /// Payload of a segment in bytes.
    #[inline]
    #[must_use]
    pub fn payload(&self, segment: u32) -> u64 {
        if self.ends_with(segment) { self.last.into() } else { self.mss }
    }

    /// Whether it ends with this segment.
    #[inline]
    #[must_use]
    pub fn ends_with(&self, segment: u32) -> bool {
        segment + 1 == self.segments
    }

    /// Whether a write of the application ends with this segment.
    #[inline]
    #[must_use]
    pub fn ends_a_write(&self, segment: u32) -> bool {
        self.ends_with(segment) || (self.written > 0 && (segment + 1).is_multiple_of(self.written))
    }

    /// Payload of the segments below this one, in bytes.
    #[inline]
    #[must_use]
    pub fn bytes_below(&self, segment: u32) -> u64 {
        match segment {
            0 => 0,
            segment => u64::from(segment - 1) * self.mss + self.payload(segment - 1),
        }
    }

    /// Ends before segment `next`, unless it has ended already.
    pub fn stop(&mut self, next: u32) {
        if self.has(next) {
            (self.segments, self.last) = (next, self.mss as u16);
            self.ready = self.ready.min(next);
        }
    }
}

/// Where a sender gets its data.
#[derive(Debug)]
pub enum Supply {
    /// It has a stream of its own.
    Own(Stream),
    /// A multipath connection's data, lent to a subflow while it handles an event; `None` between events.
    Lent(Option<Box<Distributor>>),
}

impl Supply {
    /// Whether there is a new segment to send now; if not, why. `next` is its number, `window_end` the first
    /// segment that the receiver has no room for.
    #[inline]
    pub fn offer(&self, next: u32, window_end: u32) -> Result<(), SendLimit> {
        match self {
            Self::Own(stream) if !stream.is_ready(next) => Err(SendLimit::Application),
            Self::Own(_) if next >= window_end => Err(SendLimit::Receiver),
            Self::Own(_) => Ok(()),
            // Only the data level has a receive window (RFC 8684 section 3.3.4).
            Self::Lent(Some(distributor)) => distributor.offer(),
            Self::Lent(None) => Err(SendLimit::Application),
        }
    }

    /// Takes the new segment that was offered; returns its payload in bytes.
    #[inline]
    pub fn take(&mut self, segment: u32) -> u64 {
        match self {
            Self::Own(stream) => stream.payload(segment),
            Self::Lent(distributor) => distributor.as_mut().map_or(0, |distributor| distributor.take()),
        }
    }

    /// Whether a write of the application ends with this segment, which has been taken.
    #[inline]
    #[must_use]
    pub fn ends_a_write(&self, segment: u32) -> bool {
        match self {
            Self::Own(stream) => stream.ends_a_write(segment),
            Self::Lent(distributor) => {
                distributor.as_ref().is_some_and(|distributor| distributor.ends_a_write(segment))
            }
        }
    }

    /// Whether PSH ends every burst.
    #[inline]
    #[must_use]
    pub fn pushes_bursts(&self) -> bool {
        matches!(self, Self::Lent(Some(distributor)) if distributor.pushes_bursts())
    }

    /// Payload of a retransmitted segment, in bytes.
    #[inline]
    #[must_use]
    pub fn payload_again(&self, segment: u32) -> u64 {
        match self {
            Self::Own(stream) => stream.payload(segment),
            Self::Lent(distributor) => {
                distributor.as_ref().map_or(0, |distributor| distributor.payload_again(segment))
            }
        }
    }

    /// No new data from now on; `next` is the first segment that was not sent.
    pub fn stop(&mut self, next: u32) {
        match self {
            Self::Own(stream) => stream.stop(next),
            Self::Lent(Some(distributor)) => distributor.stop(),
            Self::Lent(None) => {}
        }
    }

    /// The sender's own stream; `None` for a subflow.
    #[inline]
    #[must_use]
    pub fn stream(&self) -> Option<&Stream> {
        match self {
            Self::Own(stream) => Some(stream),
            Self::Lent(_) => None,
        }
    }

    /// Whether the application writes the data into a send buffer.
    #[inline]
    #[must_use]
    pub fn is_buffered(&self) -> bool {
        matches!(self, Self::Own(stream) if stream.buffered)
    }

    /// The sender's own stream, to write it; `None` for a subflow.
    pub fn stream_mut(&mut self) -> Option<&mut Stream> {
        match self {
            Self::Own(stream) => Some(stream),
            Self::Lent(_) => None,
        }
    }

    /// The connection's data, while this subflow holds them.
    #[inline]
    pub fn distributor(&mut self) -> Option<&mut Distributor> {
        match self {
            Self::Own(_) => None,
            Self::Lent(distributor) => distributor.as_deref_mut(),
        }
    }

    /// Takes a connection's data, or returns them and stores this subflow's view for its siblings.
    pub fn exchange(&mut self, data: &mut Option<Box<Distributor>>, view: SubflowView) {
        let Self::Lent(held) = self else { return };
        if let Some(distributor) = held {
            distributor.show(view);
        }
        std::mem::swap(held, data);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_full_segments_and_a_rest() {
        for (bytes, segments, last) in [(1, 1, 1), (999, 1, 999), (1000, 1, 1000), (2001, 3, 1)] {
            let stream = Stream::new(1000, Some(bytes));
            assert_eq!((stream.segments(), stream.payload(segments - 1)), (Some(segments), last));
            assert_eq!(stream.bytes_below(segments), bytes);
            assert!(stream.has(segments - 1) && !stream.has(segments));
        }
    }

    #[test]
    fn a_write_ends_every_so_many_segments_and_with_the_stream() {
        let ends = |write_size, bytes| {
            let options = TcpOptions { mss: 1000, write_size, ..TcpOptions::default() };
            let stream = Stream::of(&options, bytes);
            (0..7).filter(|segment| stream.ends_a_write(*segment)).collect::<Vec<_>>()
        };
        assert_eq!(ends(3500, Some(6001)), [2, 5, 6]);
        assert_eq!(ends(1, None), [0, 1, 2, 3, 4, 5, 6], "at least a segment");
        assert_eq!((ends(u64::MAX, Some(6001)), ends(u64::MAX, None)), (vec![6], vec![]));
    }

    #[test]
    fn a_stop_ends_a_stream_once() {
        let mut endless = Stream::new(1000, None);
        endless.stop(7);
        assert_eq!((endless.segments(), endless.bytes_below(7)), (Some(7), 7000));
        let mut ended = Stream::new(1000, Some(6001));
        ended.stop(7);
        assert_eq!(ended.bytes_below(7), 6001, "all of it was sent before");
        ended.stop(3);
        assert_eq!(ended.bytes_below(3), 3000);
    }

    #[test]
    fn a_subflow_without_its_connections_data_sends_nothing() {
        let supply = Supply::Lent(None);
        assert_eq!(supply.offer(0, u32::MAX), Err(SendLimit::Application));
        assert!(supply.stream().is_none());
    }
}
