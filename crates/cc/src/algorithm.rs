//! What an algorithm is to all but itself: its name, its sources, its parameters, and how a controller is made.

use crate::contract::{CongestionControl, Setup};
use crate::params::{ParamSpec, Value};
use std::sync::Arc;

/// Makes a controller from checked settings.
pub type Build = Arc<dyn Fn(&Setup, &[(String, Value)]) -> Box<dyn CongestionControl> + Send + Sync>;

/// One algorithm: what it is, what can be set, and how it is made.
#[derive(Clone)]
pub struct Algorithm {
    /// Its name in scenario files.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// RFC, draft or paper.
    pub source: &'static str,
    /// Where it departs from its source, and why.
    pub departures: &'static [&'static str],
    /// Its parameters.
    pub params: Arc<[ParamSpec]>,
    /// Makes a controller.
    pub build: Build,
}
