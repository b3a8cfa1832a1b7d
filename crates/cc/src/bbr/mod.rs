//! Parts that the BBR versions share. Each version has its own module in [`crate::algo`]; this one holds
//! only what means the same in all of them: packet-timed rounds, the test for a full pipe, windowed maxima,
//! data acknowledged beyond the model, flights in whole segments, and pacing.

pub mod aggregation;
pub mod flight;
pub mod full_pipe;
pub mod pacing;
pub mod refresh;
pub mod round_counter;
pub mod windowed_max;

pub use aggregation::Aggregation;
pub use full_pipe::FullPipe;
pub use refresh::Refresh;
pub use round_counter::RoundCounter;
pub use windowed_max::WindowedMax;
