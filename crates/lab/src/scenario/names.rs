//! Names of links and flows.

use super::flow::Flow;
use super::problem::{Checked, Problems};
use super::section::{Item, Section};
use super::visible::is_visible;
use std::collections::{BTreeMap, BTreeSet};

const LONGEST: usize = 100;
const LONGEST_TITLE: usize = 200;
/// Characters that begin a formula in a spreadsheet, where names end up through CSV.
const FORMULA: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

/// A `[[link]]` or `[[flow]]` table and its name, under which problems in it are reported.
pub(crate) fn named<'a>(item: &Item<'a>, kind: &'static str) -> Checked<(Option<String>, Section<'a>)> {
    let mut section = item.section()?.of_kind(kind);
    let name = section.get("name", name).ok().flatten();
    let section = match &name {
        Some(name) => section.called(format!("{kind}.{name}")),
        None => section,
    };
    Ok((name, section))
}

fn name(item: &Item) -> Checked<String> {
    let name = item.text()?;
    let proper = |c: char| is_visible(c) && c != '.' && c != '"';
    if name.trim() != name || name.is_empty() || name.chars().count() > LONGEST || !name.chars().all(proper) {
        return Err(item.needs(&format!(
            "a name of 1 to {LONGEST} visible characters without dots, quotes, or blanks at its ends"
        )));
    }
    not_a_formula(item, name)?;
    Ok(name.to_owned())
}

fn not_a_formula(item: &Item, name: &str) -> Checked<()> {
    if name.starts_with(FORMULA) {
        return Err(item.needs("a name that does not begin like a spreadsheet formula, with =, +, - or @"));
    }
    Ok(())
}

/// The name of a scenario: a line of text.
pub(crate) fn title<'a>(item: &Item<'a>) -> Checked<&'a str> {
    let title = item.text()?;
    if title.trim().is_empty() || title.chars().count() > LONGEST_TITLE || !title.chars().all(is_visible) {
        return Err(item.needs(&format!("a text of 1 to {LONGEST_TITLE} visible characters")));
    }
    not_a_formula(item, title)?;
    Ok(title)
}

/// Gives each flow its names: the given name, `<name>-1..n` with a count, or `<cc>-<n>` without a name.
pub(crate) fn name_flows(flows: &mut [Option<Flow>], problems: &Problems) {
    let mut of_algorithm: BTreeMap<String, u64> = BTreeMap::new();
    let mut taken = BTreeSet::new();
    for flow in flows.iter_mut().flatten() {
        let algorithm = flow.kind.cc();
        let so_far = of_algorithm.entry(algorithm.clone()).or_default();
        flow.names = match (&flow.given_name, flow.count) {
            (Some(name), None) => vec![name.clone()],
            (Some(name), Some(count)) => (1..=count).map(|n| format!("{name}-{n}")).collect(),
            (None, count) => {
                (1..=count.unwrap_or(1)).map(|n| format!("{algorithm}-{}", *so_far + n)).collect()
            }
        };
        *so_far += flow.count.unwrap_or(1);
        let parts = flow.names.iter().flat_map(|name| flow.parts(name).map(|(part, _)| part));
        let subflows = parts.filter(|_| flow.mptcp.is_some());
        let all: Vec<String> = flow.names.iter().cloned().chain(subflows).collect();
        let repeated = all.into_iter().find(|name| !taken.insert(name.clone()));
        if let Some(name) = repeated {
            let key = format!("{}.name", flow.origin.key);
            problems.error(&flow.origin.at, &key, format!("another flow is already called `{name}`"));
        }
    }
}
