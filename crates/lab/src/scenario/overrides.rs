//! `--set KEY=VALUE`: changes to a scenario's tree before it is checked.

use super::problem::{Checked, Place, Problems, Reported};
use super::tree::{self, Kind, Node, Table};
use super::words;
use cwndlab_sim::queue::Queues;
use std::ops::Range;

/// In place of a name or a number: every entry of the list.
const EVERY: &str = "*";

/// Applies all overrides in order; one that cannot be applied is reported.
pub(crate) fn apply(
    mut root: Node,
    overrides: &[(String, String)],
    queues: &Queues,
    problems: &Problems,
) -> Node {
    for (key, value) in overrides {
        let at = Place::Override(key.as_str().into());
        let change = Override { key, at, queues, problems };
        // A failure has been reported; the other overrides are still applied, so that their problems show too.
        let _reported = change.apply(&mut root, value);
    }
    root
}

struct Override<'a> {
    key: &'a str,
    at: Place,
    queues: &'a Queues,
    problems: &'a Problems,
}

impl Override<'_> {
    fn error(&self, message: String) -> Reported {
        self.problems.error(&self.at, self.key, message)
    }

    fn apply(&self, root: &mut Node, value: &str) -> Checked<()> {
        self.set(root, &self.segments()?, None, &self.value(value)?)
    }

    /// Sets the value at the path; `above` is the key of the node.
    fn set(&self, node: &mut Node, path: &[String], above: Option<&str>, value: &Node) -> Checked<()> {
        let Some((segment, rest)) = path.split_first() else {
            *node = value.clone();
            return Ok(());
        };
        spell_out(node, above, self.queues);
        match &mut node.kind {
            Kind::List(items) => {
                let chosen = self.elements(items, segment, above.unwrap_or(""))?;
                let set_in = |item: &mut Node| self.set(item, rest, Some(segment), value);
                // A failure in one item is reported, and the others are still set.
                let set: Vec<_> = items[chosen].iter_mut().map(set_in).collect();
                set.into_iter().collect()
            }
            Kind::Table(_) if segment == EVERY => Err(self.error(
                "`*` stands for every entry of a list, as in `flow.*.cc`; there is no list here".to_owned(),
            )),
            Kind::Table(table) if rest.is_empty() => {
                table.set(segment, value.clone());
                if self.segments()?.first().is_some_and(|list| list == "link") {
                    give_way(table, segment);
                }
                Ok(())
            }
            Kind::Table(table) if rest[0] == EVERY && table.get(segment).is_none() => {
                Err(self.error(format!("there is no list `{segment}`")))
            }
            Kind::Table(table) => self.set(self.table_entry(table, segment), rest, Some(segment), value),
            kind if rest.is_empty() => {
                Err(self.error(format!("`{segment}` cannot be set in {}", kind.noun())))
            }
            kind => Err(self.error(format!("there is no `{segment}` in {}", kind.noun()))),
        }
    }

    /// Splits the dotted key; a part with dots is in quotes.
    fn segments(&self) -> Checked<Vec<String>> {
        let mut segments = vec![String::new()];
        let mut quoted = false;
        for c in self.key.trim().chars() {
            match c {
                '"' => quoted = !quoted,
                '.' if !quoted => segments.push(String::new()),
                _ => segments.last_mut().into_iter().for_each(|segment| segment.push(c)),
            }
        }
        if segments.iter().any(|segment| segment.trim().is_empty()) {
            return Err(self.error(
                "expected a key such as `duration`, `tcp.mss`, `flow.0.cc` or `link.NAME.rate`".to_owned(),
            ));
        }
        Ok(segments.into_iter().map(|segment| segment.trim().to_owned()).collect())
    }

    /// The value as TOML if it parses, otherwise as plain text: `4 bdp` needs no quotes. What begins like a table or
    /// a list is meant as one.
    fn value(&self, text: &str) -> Checked<Node> {
        let text = text.trim();
        match tree::parse_value(text, &self.at) {
            Ok(value) => Ok(value),
            Err(message) if text.starts_with(['{', '[']) => Err(self.error(message)),
            Err(_) => Ok(Node { at: self.at.clone(), kind: Kind::Text(text.to_owned()) }),
        }
    }

    /// The value of a key; a missing table is created, as `tcp.mss=500` needs.
    fn table_entry<'n>(&self, table: &'n mut Table, key: &str) -> &'n mut Node {
        if table.get(key).is_none() {
            table.set(key, Node { at: self.at.clone(), kind: Kind::Table(Table::default()) });
        }
        let position = table.0.iter().position(|(entry, _)| entry.name == key).unwrap_or_default();
        &mut table.0[position].1
    }

    /// Every element of a list, or one by its name or its number.
    fn elements(&self, items: &[Node], segment: &str, list: &str) -> Checked<Range<usize>> {
        if segment != EVERY {
            return self.index(items, segment, list).map(|n| n..n + 1);
        }
        match items.len() {
            0 => Err(self.error(count(list, 0))),
            n => Ok(0..n),
        }
    }

    /// An element of a list by its name or its number.
    fn index(&self, items: &[Node], segment: &str, list: &str) -> Checked<usize> {
        if let Some(n) = items.iter().position(|item| name_of(item) == Some(segment)) {
            return Ok(n);
        }
        match segment.parse::<usize>() {
            Ok(n) if n < items.len() => Ok(n),
            Ok(_) => Err(self.error(count(list, items.len()))),
            Err(_) => {
                let known: Vec<&str> = items.iter().filter_map(name_of).collect();
                let message = words::unknown(if list.is_empty() { "name" } else { list }, segment, &known);
                Err(self.error(format!("{message}; {}", count(list, items.len()))))
            }
        }
    }
}

/// A link has a `rate` or a `trace`: the one that is set takes the place of the other, if that is from the file alone.
fn give_way(table: &mut Table, set: &str) {
    let other = match set {
        "rate" => "trace",
        "trace" => "rate",
        _ => return,
    };
    table.0.retain(|(key, value)| key.name != other || !is_from_file(value));
}

fn is_from_file(node: &Node) -> bool {
    let inside = match &node.kind {
        Kind::List(items) => items.iter().all(is_from_file),
        Kind::Table(table) => table.0.iter().all(|(_, value)| is_from_file(value)),
        _ => true,
    };
    inside && matches!(node.at, Place::File(..))
}

/// "there are 2 flows (0 and 1)"
fn count(list: &str, length: usize) -> String {
    let noun = if list.is_empty() { "element" } else { list };
    match length {
        0 => format!("there is no {noun}"),
        1 => format!("there is 1 {noun} (0)"),
        2 => format!("there are 2 {noun}s (0 and 1)"),
        n => format!("there are {n} {noun}s (0 to {})", n - 1),
    }
}

fn name_of(item: &Node) -> Option<&str> {
    let Kind::Table(table) = &item.kind else { return None };
    match &table.get("name")?.1.kind {
        Kind::Text(name) => Some(name),
        _ => None,
    }
}

/// Short forms become tables, so that `flow.0.cc.C=1.2` works on `cc = "cubic"`.
fn spell_out(node: &mut Node, key: Option<&str>, queues: &Queues) {
    let long_key = match (key, &node.kind) {
        (Some("cc"), Kind::Text(_)) => "name",
        (Some("queue"), Kind::Text(text)) if queues.get(text).is_some() => "kind",
        (Some("queue"), Kind::Text(_)) => "size",
        _ => return,
    };
    let at = node.at.clone();
    let short = std::mem::replace(&mut node.kind, Kind::Table(Table::default()));
    if let Kind::Table(table) = &mut node.kind {
        table.set(long_key, Node { at, kind: short });
    }
}
