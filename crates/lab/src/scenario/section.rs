//! Reading tables: every key that is asked for is thereby allowed, so no separate list of keys is needed.

use super::problem::{Checked, Place, Problems, Reported};
use super::tree::{Key, Kind, Node, Table};
use super::words;

/// A value with its key.
#[derive(Clone)]
pub(crate) struct Item<'a> {
    pub(crate) node: &'a Node,
    pub(crate) key: String,
    pub(crate) problems: &'a Problems,
}

impl<'a> Item<'a> {
    pub(crate) fn error(&self, message: impl Into<String>) -> Reported {
        self.problems.error(&self.node.at, &self.key, message)
    }

    pub(crate) fn warn(&self, message: impl Into<String>) {
        self.problems.warn(&self.node.at, &self.key, message);
    }

    /// "expected a text, found 3"; silent where a syntax error has been reported.
    pub(crate) fn needs(&self, what: &str) -> Reported {
        match &self.node.kind {
            Kind::Broken => Reported,
            kind => self.error(format!("expected {what}, found {}", kind.shown())),
        }
    }

    /// Where it was written, for a problem that is found later.
    pub(crate) fn origin(&self) -> Origin {
        Origin { at: self.node.at.clone(), key: self.key.clone() }
    }

    pub(crate) fn text(&self) -> Checked<&'a str> {
        match &self.node.kind {
            Kind::Text(text) => Ok(text),
            _ => Err(self.needs("a text in quotes")),
        }
    }

    pub(crate) fn flag(&self) -> Checked<bool> {
        match self.node.kind {
            Kind::Flag(flag) => Ok(flag),
            _ => Err(self.needs("true or false")),
        }
    }

    /// A finite number.
    pub(crate) fn real(&self) -> Checked<f64> {
        match self.node.kind {
            Kind::Real(x) if x.is_finite() => Ok(x),
            Kind::Whole(n) => Ok(n as f64),
            _ => Err(self.needs("a finite number")),
        }
    }

    /// A number in this closed range.
    pub(crate) fn real_within(&self, low: f64, high: f64) -> Checked<f64> {
        match self.node.kind {
            Kind::Real(x) if low <= x && x <= high => Ok(x),
            Kind::Whole(n) if low <= n as f64 && n as f64 <= high => Ok(n as f64),
            _ => Err(self.needs(&format!("a number from {low} to {high}"))),
        }
    }

    /// A whole number in this closed range.
    pub(crate) fn whole_within(&self, low: u64, high: u64) -> Checked<u64> {
        match self.node.kind {
            Kind::Whole(n) if i128::from(low) <= n && n <= i128::from(high) => Ok(n as u64),
            _ if high == u64::MAX => Err(self.needs(&format!("a whole number from {low} on"))),
            _ => Err(self.needs(&format!("a whole number from {low} to {high}"))),
        }
    }

    /// One of these words.
    pub(crate) fn word(&self, noun: &str, allowed: &[&'static str]) -> Checked<&'static str> {
        let text = self.text()?;
        let found = allowed.iter().find(|word| **word == text).copied();
        found.ok_or_else(|| self.error(words::unknown(noun, text, allowed)))
    }

    /// The elements of a list.
    pub(crate) fn list(&self) -> Checked<Vec<Item<'a>>> {
        match &self.node.kind {
            Kind::List(nodes) => {
                Ok(nodes.iter().enumerate().map(|(n, node)| self.element(n, node)).collect())
            }
            _ => Err(self.needs("a list")),
        }
    }

    fn element(&self, n: usize, node: &'a Node) -> Item<'a> {
        Item { node, key: format!("{}[{n}]", self.key), problems: self.problems }
    }

    /// The value as a table to read.
    pub(crate) fn section(&self) -> Checked<Section<'a>> {
        match &self.node.kind {
            Kind::Table(table) => Ok(Section {
                table,
                at: self.node.at.clone(),
                path: self.key.clone(),
                problems: self.problems,
                asked: Vec::new(),
                kind: None,
            }),
            _ => Err(self.needs("a table")),
        }
    }
}

/// Where something was written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Origin {
    pub(crate) at: Place,
    pub(crate) key: String,
}

/// A table being read.
pub(crate) struct Section<'a> {
    table: &'a Table,
    at: Place,
    path: String,
    pub(crate) problems: &'a Problems,
    asked: Vec<&'static str>,
    /// The kind of table, such as `flow` for a `[[flow]]`.
    kind: Option<&'static str>,
}

impl<'a> Section<'a> {
    /// The path of a key in this table.
    fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// Changes the table's path in messages, for example to its name in place of its number.
    pub(crate) fn called(mut self, path: String) -> Self {
        self.path = path;
        self
    }

    /// Sets its kind of table.
    pub(crate) fn of_kind(mut self, kind: &'static str) -> Self {
        self.kind = Some(kind);
        self
    }

    pub(crate) fn origin(&self) -> Origin {
        Origin { at: self.at.clone(), key: self.path.clone() }
    }

    /// Whether the key is present; it counts as asked for.
    pub(crate) fn has(&mut self, key: &'static str) -> bool {
        self.item(key).is_some()
    }

    /// The value of a key.
    pub(crate) fn item(&mut self, key: &'static str) -> Option<Item<'a>> {
        self.asked.push(key);
        let (_, node) = self.table.get(key)?;
        Some(Item { node, key: self.path_of(key), problems: self.problems })
    }

    /// The value of an optional key.
    pub(crate) fn get<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&Item<'a>) -> Checked<T>,
    ) -> Checked<Option<T>> {
        self.item(key).map(|item| read(&item)).transpose()
    }

    /// The value of a required key.
    pub(crate) fn require<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&Item<'a>) -> Checked<T>,
    ) -> Checked<T> {
        match self.item(key) {
            Some(item) => read(&item),
            None => Err(self.missing(key)),
        }
    }

    /// Reports that a key is missing.
    pub(crate) fn missing(&self, key: &str) -> Reported {
        self.problems.missing(&self.at, &self.path_of(key), "this key is missing")
    }

    pub(crate) fn error(&self, message: impl Into<String>) -> Reported {
        self.problems.error(&self.at, &self.path, message)
    }

    /// Reports the keys that nobody asked for.
    pub(crate) fn finish(self) -> Checked<()> {
        let mut allowed = self.asked.clone();
        allowed.sort_unstable();
        allowed.dedup();
        if let Some(kind) = self.kind {
            self.problems.note_keys(kind, allowed.iter().copied());
        }
        let unknown = self.table.0.iter().filter(|(key, _)| !allowed.contains(&key.name.as_str()));
        let mut read = Ok(());
        for (key, _) in unknown {
            let message = match self.elsewhere(key) {
                meant if !meant.is_empty() && !key_means(&key.name, &allowed) => {
                    words::unknown_but("key", &key.name, &meant, &allowed)
                }
                _ => words::unknown("key", &key.name, &allowed),
            };
            read = Err(self.problems.error(&key.at, &self.path_of(&key.name), message));
        }
        read
    }

    /// Where a key at the top level belongs: "`flow.*.cc`", or in a file "`cc` in a [[flow]]"; empty if nowhere.
    fn elsewhere(&self, key: &Key) -> String {
        if !self.path.is_empty() {
            return String::new();
        }
        let kinds = self.problems.kinds_with(&key.name);
        let (name, kinds) = match words::ordinary(&key.name) {
            Some((ordinary, _)) if kinds.is_empty() => (ordinary, self.problems.kinds_with(ordinary)),
            _ => (key.name.as_str(), kinds),
        };
        let places = kinds.iter().map(|kind| match (*kind, &key.at) {
            ("tcp", Place::Override(_)) => format!("`tcp.{name}`"),
            (_, Place::Override(_)) => format!("`{kind}.*.{name}`"),
            ("tcp", _) => format!("`{name}` in [tcp]"),
            _ => format!("`{name}` in a [[{kind}]]"),
        });
        places.collect::<Vec<_>>().join(" or ")
    }
}

/// Whether an ordinary word means one of these keys.
fn key_means(word: &str, allowed: &[&str]) -> bool {
    words::ordinary(word).is_some_and(|(key, _)| allowed.contains(&key))
}
