//! A scenario's text as a tree of values, each with the place where it was written.

use super::problem::Place;
use super::visible;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value and where it was written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) at: Place,
    pub(crate) kind: Kind,
}

/// The kind and content of a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Text(String),
    Whole(i128),
    Real(f64),
    Flag(bool),
    /// A date or a time of day: no key takes one.
    Moment,
    List(Vec<Node>),
    Table(Table),
    /// A value that begins like a number and continues as text, which the parser accepts.
    Unquoted(String),
    /// A syntax error was reported here.
    Broken,
}

/// Keys and their values.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Table(pub(crate) Vec<(Key, Node)>);

/// A key and where it was written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Key {
    pub(crate) name: String,
    pub(crate) at: Place,
}

impl Table {
    pub(crate) fn get(&self, name: &str) -> Option<&(Key, Node)> {
        self.0.iter().find(|(key, _)| key.name == name)
    }

    /// Sets a key, replacing an old value.
    pub(crate) fn set(&mut self, name: &str, node: Node) {
        let key = Key { name: name.to_owned(), at: node.at.clone() };
        self.0.retain(|(key, _)| key.name != name);
        self.0.push((key, node));
    }
}

impl Kind {
    /// A noun for this kind of value, for messages.
    pub(crate) fn noun(&self) -> &'static str {
        match self {
            Kind::Text(_) => "a text",
            Kind::Whole(_) | Kind::Real(_) => "a number",
            Kind::Flag(_) => "true or false",
            Kind::Moment => "a date",
            Kind::List(_) => "a list",
            Kind::Table(_) => "a table",
            Kind::Unquoted(_) => "a text without quotes",
            Kind::Broken => "a syntax error",
        }
    }

    /// The value as it is shown in a message.
    pub(crate) fn shown(&self) -> String {
        match self {
            Kind::Text(text) => format!("\"{}\"", shortened(text)),
            Kind::Unquoted(text) => format!("{} without quotes", shortened(text)),
            Kind::Whole(n) => n.to_string(),
            Kind::Real(x) => x.to_string(),
            Kind::Flag(b) => b.to_string(),
            _ => self.noun().to_owned(),
        }
    }
}

/// Shortens a text for a message.
pub(crate) fn shortened(text: &str) -> String {
    const LONGEST: usize = 60;
    let shown: String = text.chars().take(LONGEST).map(visible::shown).collect();
    if text.chars().nth(LONGEST).is_some() { format!("{shown}...") } else { shown }
}

/// Converts byte offsets to lines and columns by binary search, because one line may hold a million values.
struct Lines {
    /// Where each line starts.
    starts: Vec<usize>,
    /// The offsets of bytes that do not begin a character.
    continued: Vec<usize>,
}

impl Lines {
    fn new(text: &str) -> Self {
        let after_breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        let continued = (0..text.len()).filter(|&at| !text.is_char_boundary(at));
        Self { starts: std::iter::once(0).chain(after_breaks).collect(), continued: continued.collect() }
    }

    fn place(&self, offset: usize) -> Place {
        let line = self.starts.partition_point(|&start| start <= offset);
        let start = self.starts[line - 1];
        let continued_before = |at| self.continued.partition_point(|&byte| byte < at);
        Place::File(line, offset - start - (continued_before(offset) - continued_before(start)) + 1)
    }
}

/// Parses a text into a tree and its syntax errors. The tree contains what can be read despite errors.
pub(crate) fn parse(text: &str) -> (Node, Vec<(Place, String)>) {
    let lines = Lines::new(text);
    let (document, errors) = DeTable::parse_recoverable(text);
    let mut broken: Vec<_> = errors.iter().filter_map(|error| error.span()).collect();
    broken.sort_by_key(|span| (span.start, span.end));
    let table = table(document.get_ref(), &lines, &broken);
    let root = Node { at: Place::TOP, kind: Kind::Table(table) };
    (root, syntax_problems(&errors, &lines))
}

/// Parses a text as one value, as it may follow `=`, or says why it is none.
pub(crate) fn parse_value(text: &str, at: &Place) -> Result<Node, String> {
    let value = DeValue::parse(text).map_err(|error| not_toml(error.message()))?;
    let mut node = node(&value, &Lines::new(text), &[]);
    relocate(&mut node, at);
    if let Kind::Unquoted(_) = node.kind { Err(not_toml("a text without quotes")) } else { Ok(node) }
}

/// The first error of each line: the others are mostly its consequences.
fn syntax_problems(errors: &[toml::de::Error], lines: &Lines) -> Vec<(Place, String)> {
    let mut problems: Vec<(Place, String)> = errors
        .iter()
        .map(|error| (lines.place(error.span().map_or(0, |span| span.start)), not_toml(error.message())))
        .collect();
    problems.sort_by(|a, b| a.0.cmp(&b.0));
    problems.dedup_by(|next, first| match (&next.0, &first.0) {
        (Place::File(a, _), Place::File(b, _)) => a == b,
        _ => false,
    });
    problems
}

fn not_toml(message: &str) -> String {
    let message = message.strip_suffix(", expected literal string").unwrap_or(message);
    format!("not TOML: {message}")
}

fn table(source: &DeTable, lines: &Lines, errors: &[Range<usize>]) -> Table {
    let mut entries: Vec<_> = source.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let entry = |(key, value): (&Spanned<_>, &Spanned<DeValue>)| {
        let name: &std::borrow::Cow<str> = key.get_ref();
        (Key { name: name.to_string(), at: lines.place(key.span().start) }, node(value, lines, errors))
    };
    Table(entries.into_iter().map(entry).collect())
}

fn node(value: &Spanned<DeValue>, lines: &Lines, errors: &[Range<usize>]) -> Node {
    let span = value.span();
    let kind = match value.get_ref() {
        DeValue::Table(source) => Kind::Table(table(source, lines, errors)),
        _ if holds_error(&span, errors) => Kind::Broken,
        DeValue::String(text) => Kind::Text(text.to_string()),
        DeValue::Integer(n) => whole(n.as_str(), n.radix()),
        DeValue::Float(x) => Kind::Real(x.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(flag) => Kind::Flag(*flag),
        DeValue::Datetime(_) => Kind::Moment,
        DeValue::Array(items) => Kind::List(items.iter().map(|item| node(item, lines, errors)).collect()),
    };
    Node { at: lines.place(span.start), kind }
}

fn whole(digits: &str, radix: u32) -> Kind {
    let unsigned = digits.trim_start_matches(['+', '-']);
    match i128::from_str_radix(digits, radix) {
        Ok(n) => Kind::Whole(n),
        // Beyond 128 bits: larger than any allowed value.
        Err(_) if unsigned.chars().all(|c| c.is_digit(radix)) => Kind::Real(f64::INFINITY),
        Err(_) => Kind::Unquoted(digits.to_owned()),
    }
}

/// Whether one of the errors, sorted by their starts, begins within the span.
fn holds_error(span: &Range<usize>, errors: &[Range<usize>]) -> bool {
    let first = errors.partition_point(|error| error.start < span.start);
    errors.get(first).is_some_and(|error| error.end <= span.end)
}

fn relocate(node: &mut Node, at: &Place) {
    node.at = at.clone();
    match &mut node.kind {
        Kind::List(items) => items.iter_mut().for_each(|item| relocate(item, at)),
        Kind::Table(table) => {
            for (key, value) in &mut table.0 {
                key.at = at.clone();
                relocate(value, at);
            }
        }
        _ => {}
    }
}
