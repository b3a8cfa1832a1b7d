//! Everything between scenario files and results: this crate reads and checks scenarios, builds simulations
//! from them, runs them, and writes the measures in formats that other programs read.

pub mod bench;
pub mod catalogue;
mod components;
pub mod export;
mod extension;
pub mod gym;
mod lines;
pub mod linux;
pub mod measures;
pub mod run;
mod safetensors;
pub mod scenario;
pub mod trace;
pub mod weights;

pub use components::components;
pub use cwndlab_sim::queue::Queues;
pub use extension::Extension;
pub use lines::lines;
pub use scenario::{Backend, Problem, Scenario, Severity, Source};
