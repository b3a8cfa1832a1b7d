//! Parts that the BBR versions share. Each version stands in its own file in [`crate::algo`]; here is only what all of
//! them mean in the same way: packet-timed rounds, the test for a full pipe, windowed maxima, data acknowledged beyond
//! the model, and pacing.

pub mod aggregation;
pub mod full_pipe;
pub mod pacing;
pub mod refresh;
pub mod rounds;
pub mod windowed_max;

pub use aggregation::Aggregation;
pub use full_pipe::FullPipe;
pub use refresh::Refresh;
pub use rounds::Rounds;
pub use windowed_max::WindowedMax;
