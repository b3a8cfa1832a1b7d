//! TCP endpoints: state machines without I/O.

pub mod options;
pub mod prr;
pub mod quick_ack;
pub mod rack;
pub mod rate;
pub mod receive_window;
pub mod receiver;
pub mod rtt;
pub mod scoreboard;
pub mod send_buffer;
pub mod sender;
pub mod supply;
pub mod ticks;

pub use options::{LossDetection, Metrics, PROFILES, Profile, Recovery, RtoFloor, TcpOptions};
pub use receive_window::{ReceiveWindow, window_shift};
pub use receiver::Receiver;
pub use rtt::TimestampClock;
pub use sender::{Counters, LossDistances, Outgoing, Sender};
pub use supply::{Stream, Supply};
