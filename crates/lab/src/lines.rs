//! The line numbers of values in a TOML text, for files other than scenarios.

use crate::scenario::Place;
use crate::scenario::tree::{Kind, Node, parse};
use serde_json::{Value, json};

/// The line of every key and every list entry, by its path: `[["claim", 0, "effect"], 42]`. For a text that
/// is not valid TOML, the lines of the readable part.
#[must_use]
pub fn lines(text: &str) -> Value {
    let mut found = Vec::new();
    collect(&parse(text).0, &mut Vec::new(), &mut found);
    found.into()
}

fn collect(node: &Node, path: &mut Vec<Value>, found: &mut Vec<Value>) {
    let entries: Vec<(Value, &Place, &Node)> = match &node.kind {
        Kind::Table(table) => table.0.iter().map(|(key, value)| (json!(key.name), &key.at, value)).collect(),
        Kind::List(items) => items.iter().enumerate().map(|(n, item)| (json!(n), &item.at, item)).collect(),
        _ => Vec::new(),
    };
    for (step, at, value) in entries {
        path.push(step);
        if let Place::File(line, _) = at {
            found.push(json!([path, line]));
        }
        collect(value, path, found);
        path.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_entries_and_inline_tables_have_their_lines() {
        let text = "a = 1\n[[b]]\n'c d' = [\n  1,\n  { e = 2 },\n]\n[[b]]\n[[b.f]]\ng = '''\n\n'''\n";
        let expected = json!([
            [["a"], 1],
            [["b"], 2],
            [["b", 0], 2],
            [["b", 0, "c d"], 3],
            [["b", 0, "c d", 0], 4],
            [["b", 0, "c d", 1], 5],
            [["b", 0, "c d", 1, "e"], 5],
            [["b", 1], 7],
            [["b", 1, "f"], 8],
            [["b", 1, "f", 0], 8],
            [["b", 1, "f", 0, "g"], 9],
        ]);
        assert_eq!(lines(text), expected);
    }

    #[test]
    fn what_is_not_toml_has_the_lines_that_can_be_read() {
        assert_eq!(lines("a = 1\nb = ")[0], json!([["a"], 1]));
    }
}
