//! Errors and warnings in a scenario, reported as a good compiler does.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
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
    /// Nowhere in particular.
    Whole,
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
    /// The key that it concerns, such as `link.bottleneck.rate`; empty for the file as a whole.
    pub key: String,
    /// What was found and what is allowed.
    pub message: String,
}

impl Problem {
    /// Its line; `None` outside of the file's text.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        match self.place {
            Place::File(line, _) => Some(line),
            Place::Override(_) | Place::Whole => None,
        }
    }

    /// The dotted key of the override, if the problem is in one.
    #[must_use]
    pub fn override_key(&self) -> Option<&str> {
        match &self.place {
            Place::Override(key) => Some(key),
            Place::File(..) | Place::Whole => None,
        }
    }

    /// Its column; `None` outside of the file's text.
    #[must_use]
    pub fn column(&self) -> Option<usize> {
        match self.place {
            Place::File(_, column) => Some(column),
            Place::Override(_) | Place::Whole => None,
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
            Place::Whole => {
                write!(f, "{}: {word}: ", self.file)?;
                None
            }
        };
        if !self.key.is_empty() && named != Some(self.key.as_str()) {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.message)
    }
}

/// The most errors, and the most warnings, that are shown; nobody reads more.
const MOST_REPORTED: usize = 20;

/// A value could not be read, and the reason has been reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reported;

/// A value, or a note that its problem has been reported.
pub(crate) type Checked<T> = Result<T, Reported>;

/// Collects the problems of one file.
pub(crate) struct Problems {
    file: Arc<str>,
    found: RefCell<Vec<Problem>>,
    /// The lines that are not valid TOML. Other problems in them only follow from the syntax error, and keys
    /// that seem to be missing may be in these lines.
    broken: BTreeSet<usize>,
    /// The known keys of each kind of table, collected from the tables read so far.
    keys: RefCell<BTreeMap<&'static str, BTreeSet<&'static str>>>,
}

impl Problems {
    pub(crate) fn new(file: &str, syntax: Vec<(Place, String)>) -> Self {
        let mut problems = Self {
            file: file.into(),
            found: RefCell::default(),
            broken: BTreeSet::new(),
            keys: RefCell::default(),
        };
        for (place, message) in &syntax {
            problems.error(place, "", message.as_str());
        }
        let line = |place: &Place| match place {
            Place::File(line, _) => Some(*line),
            Place::Override(_) | Place::Whole => None,
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

    /// Reports that a required key is missing, unless syntax errors may have hidden it.
    pub(crate) fn missing(&self, place: &Place, key: &str, message: impl Into<String>) -> Reported {
        if !self.broken.is_empty() { Reported } else { self.error(place, key, message) }
    }

    /// Whether there is an error among them.
    pub(crate) fn any_error(&self) -> bool {
        self.found.borrow().iter().any(|problem| problem.severity == Severity::Error)
    }

    /// Notes the keys of a kind of table, for messages about keys in the wrong table.
    pub(crate) fn note_keys(&self, kind: &'static str, keys: impl IntoIterator<Item = &'static str>) {
        self.keys.borrow_mut().entry(kind).or_default().extend(keys);
    }

    /// The kinds of table that are known to have a key.
    pub(crate) fn kinds_with(&self, key: &str) -> Vec<&'static str> {
        let keys = self.keys.borrow();
        keys.iter().filter(|(_, keys)| keys.contains(key)).map(|(kind, _)| *kind).collect()
    }

    /// The problems to show, in the order of the file, with those of overrides after it.
    pub(crate) fn into_sorted(self) -> Vec<Problem> {
        let mut found = self.found.into_inner();
        found.sort_by(|a, b| (&a.place, a.severity).cmp(&(&b.place, b.severity)));
        found.dedup();
        // One override may apply to many entries (`flow.*.cc`) and be wrong in each for the same reason.
        let mut reported = BTreeSet::new();
        found.retain(|problem| {
            !matches!(problem.place, Place::Override(_))
                || reported.insert((problem.place.clone(), problem.message.clone()))
        });
        // Counted separately, so that warnings never hide an error.
        for severity in [Severity::Error, Severity::Warning] {
            cap(&mut found, severity);
        }
        found
    }
}

/// Keeps the first problems of a severity and replaces the others by their number.
fn cap(found: &mut Vec<Problem>, severity: Severity) {
    let mut count = 0_usize;
    found.retain(|problem| {
        count += usize::from(problem.severity == severity);
        problem.severity != severity || count <= MOST_REPORTED
    });
    if let (Some(more @ 1..), Some(first)) = (count.checked_sub(MOST_REPORTED), found.first()) {
        let message = format!("and {more} more {}s", severity.word());
        let file = first.file.clone();
        found.push(Problem { file, severity, place: Place::Whole, key: String::new(), message });
    }
}
