//! An algorithm as the rest of the code sees it: its name, its sources, its parameters, and how a controller is made.

use crate::contract::{CongestionControl, Needs, Setup};
use crate::params::{ParamSpec, Value};
use std::sync::Arc;

/// The properties of a controller, known without making one. `testing::check_declaration` compares the two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Declaration {
    /// What it needs of its transport.
    pub needs: Needs,
    /// Names of its recorded values.
    pub probes: &'static [&'static str],
    /// What an agent sees and may do, if the controller decides by actions.
    pub spaces: Option<Spaces>,
    /// Its parameters bound its window, whatever the path is.
    pub bounded: bool,
    /// Its window depends on what sibling subflows show.
    pub coupled: bool,
}

impl Declaration {
    /// A controller with none of these properties.
    pub const PLAIN: Self =
        Self { needs: Needs::NONE, probes: &[], spaces: None, bounded: false, coupled: false };
}

/// What an agent sees and may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spaces {
    /// Length of the observation; zero if there is nothing to see.
    pub observation: usize,
    /// Number of actions.
    pub actions: u32,
}

/// A [`Declaration`] that either ignores the settings or follows from them.
#[derive(Clone)]
pub struct Declares(Arc<Declare>);

type Declare = dyn Fn(&[(String, Value)]) -> Declaration + Send + Sync;

impl Declares {
    /// A declaration that follows from checked settings.
    pub fn by(declare: impl Fn(&[(String, Value)]) -> Declaration + Send + Sync + 'static) -> Self {
        Self(Arc::new(declare))
    }
}

impl From<Declaration> for Declares {
    fn from(declaration: Declaration) -> Self {
        Self::by(move |_| declaration)
    }
}

/// The declaration of a plain controller.
impl Default for Declares {
    fn default() -> Self {
        Declaration::PLAIN.into()
    }
}

/// Makes a controller from checked settings.
pub type Build = Arc<dyn Fn(&Setup, &[(String, Value)]) -> Box<dyn CongestionControl> + Send + Sync>;

/// One algorithm: what it is, its parameters, and how its controllers are made.
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
    /// The declaration of its controllers.
    pub declares: Declares,
    /// Makes a controller.
    pub build: Build,
}

impl Algorithm {
    /// The declaration of a controller with these settings.
    #[must_use]
    pub fn declaration(&self, settings: &[(String, Value)]) -> Declaration {
        (self.declares.0)(settings)
    }
}
