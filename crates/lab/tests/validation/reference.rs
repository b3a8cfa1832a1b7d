//! The reference numbers of `tests/reference`: what they are is told there.

use std::collections::HashMap;

/// A row, by column.
pub struct Row(HashMap<String, String>);

impl Row {
    /// A cell as text.
    pub fn text(&self, column: &str) -> &str {
        self.0.get(column).unwrap_or_else(|| panic!("no column {column}"))
    }

    /// A cell as a number.
    pub fn number(&self, column: &str) -> f64 {
        self.text(column).parse().unwrap_or_else(|_| panic!("{column} is {:?}", self.text(column)))
    }
}

fn rows(csv: &str) -> Vec<Row> {
    let mut lines = csv.lines();
    let heads: Vec<&str> = lines.next().expect("a head").split(',').collect();
    let row = |line: &str| {
        Row(heads.iter().map(ToString::to_string).zip(line.split(',').map(String::from)).collect())
    };
    lines.map(row).collect()
}

/// Runs of ns-3.37: one row a flow.
pub fn ns3() -> Vec<Row> {
    rows(include_str!("../reference/ns3.csv"))
}

/// Runs of ns-3.44 with BBR: one row a flow.
pub fn ns3_44() -> Vec<Row> {
    rows(include_str!("../reference/ns3-3.44.csv"))
}

/// Runs of ns-3.37 with its default queues, where segments are fragmented or not: one row a flow.
pub fn ns3_fragments() -> Vec<Row> {
    rows(include_str!("../reference/ns3-fragments.csv"))
}

/// Runs of the Linux 6.18 kernel: one row a flow.
pub fn linux() -> Vec<Row> {
    rows(include_str!("../reference/linux.csv"))
}

/// Runs of Linux 6.12 and 6.1 with BBR versions 1 to 3: one row a flow.
pub fn kernel_bbr() -> Vec<Row> {
    rows(include_str!("../reference/bbr.csv"))
}

/// Neighbouring rows with the same key.
pub fn grouped<T, K: PartialEq>(items: Vec<T>, key: impl Fn(&T) -> K) -> Vec<Vec<T>> {
    let mut groups: Vec<Vec<T>> = Vec::new();
    for item in items {
        match groups.iter_mut().find(|group| key(&group[0]) == key(&item)) {
            Some(group) => group.push(item),
            None => groups.push(vec![item]),
        }
    }
    groups
}
