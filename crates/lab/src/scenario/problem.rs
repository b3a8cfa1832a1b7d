//! What is wrong or odd in a scenario, told like a good compiler tells it.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The scenario cannot run.
    Error,
    /// Legal, but odd.
    Warning,
}

impl Severity {
    /// As a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// Where a value was written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// In the file: line and column, both counted from 1.
    File(usize, usize),
    /// In an override with this dotted key.
    Override(Arc<str>),
}

impl Place {
    /// The beginning of the file.
    pub const TOP: Place = Place::File(1, 1);
}

/// One problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The scenario file.
    pub file: Arc<str>,
    /// How bad it is.
    pub severity: Severity,
    /// Where it is.
    pub place: Place,
    /// The key that it concerns, as `link.bottleneck.rate`; empty for the file as a whole.
    pub key: String,
    /// What was found and what is allowed.
    pub message: String,
}

impl Problem {
    /// Its line; `None` in an override.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        match self.place {
            Place::File(line, _) => Some(line),
            Place::Override(_) => None,
        }
    }

    /// Its column; `None` in an override.
    #[must_use]
    pub fn column(&self) -> Option<usize> {
        match self.place {
            Place::File(_, column) => Some(column),
            Place::Override(_) => None,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = self.severity.word();
        let named = match &self.place {
            Place::File(line, column) => {
                write!(f, "{}:{line}:{column}: {word}: ", self.file)?;
                None
            }
            Place::Override(key) => {
                write!(f, "--set {key}: {word}: ")?;
                Some(&**key)
            }
        };
        if !self.key.is_empty() && named != Some(self.key.as_str()) {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.message)
    }
}

/// How many problems are told: who has made more reads no further.
const TOLD: usize = 1000;

/// A value that could not be had; why has been reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reported;

/// A value, or the knowledge that its problem has been reported.
pub(crate) type Checked<T> = Result<T, Reported>;

/// Collects the problems of one file.
pub(crate) struct Problems {
    file: Arc<str>,
    found: RefCell<Vec<Problem>>,
    /// The lines that are not TOML. What else seems wrong in one of them is an echo, and what seems to be missing
    /// anywhere may stand in them.
    broken: BTreeSet<usize>,
}

impl Problems {
    pub(crate) fn new(file: &str, syntax: Vec<(Place, String)>) -> Self {
        let mut problems = Self { file: file.into(), found: RefCell::default(), broken: BTreeSet::new() };
        for (place, message) in &syntax {
            problems.error(place, "", message.as_str());
        }
        let line = |place: &Place| match place {
            Place::File(line, _) => Some(*line),
            Place::Override(_) => None,
        };
        problems.broken = syntax.iter().filter_map(|(place, _)| line(place)).collect();
        problems
    }

    fn push(&self, severity: Severity, place: &Place, key: &str, message: String) {
        if matches!(place, Place::File(line, _) if self.broken.contains(line)) {
            return;
        }
        let (file, place, key) = (self.file.clone(), place.clone(), key.to_owned());
        self.found.borrow_mut().push(Problem { file, severity, place, key, message });
    }

    pub(crate) fn error(&self, place: &Place, key: &str, message: impl Into<String>) -> Reported {
        self.push(Severity::Error, place, key, message.into());
        Reported
    }

    pub(crate) fn warn(&self, place: &Place, key: &str, message: impl Into<String>) {
        self.push(Severity::Warning, place, key, message.into());
    }

    /// Something that must be there is not.
    pub(crate) fn missing(&self, place: &Place, key: &str, message: impl Into<String>) -> Reported {
        if !self.broken.is_empty() { Reported } else { self.error(place, key, message) }
    }

    /// Whether there is an error among them.
    pub(crate) fn any_error(&self) -> bool {
        self.found.borrow().iter().any(|problem| problem.severity == Severity::Error)
    }

    /// All that a reader can use, in the order of the file, those of overrides last.
    pub(crate) fn into_sorted(self) -> Vec<Problem> {
        let mut found = self.found.into_inner();
        found.sort_by(|a, b| (&a.place, a.severity).cmp(&(&b.place, b.severity)));
        found.dedup();
        if found.len() > TOLD {
            let message = format!("and {} problems more", found.len() - TOLD);
            found.truncate(TOLD);
            let last = Problem { message, key: String::new(), ..found[TOLD - 1].clone() };
            found.push(last);
        }
        found
    }
}
