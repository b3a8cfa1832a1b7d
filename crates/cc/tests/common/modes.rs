//! The modes of BBRv2 and BBRv3, by the numbers that their probe `mode` shows.
#![allow(dead_code, reason = "each test binary uses a part")]

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl Mode {
    const ALL: [Self; 7] =
        [Self::Startup, Self::Drain, Self::Down, Self::Cruise, Self::Refill, Self::Up, Self::ProbeRtt];

    /// The mode that the probe shows with this value.
    #[track_caller]
    pub fn shown(value: f64) -> Self {
        let mode = Self::ALL.into_iter().find(|mode| f64::from(*mode as u8) == value);
        mode.unwrap_or_else(|| panic!("no mode is {value}"))
    }
}
