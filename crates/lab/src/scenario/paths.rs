//! The path of a flow: `path`, or the `paths` of a multipath connection, with `access` and `mptcp`.

use super::context::Context;
use super::flow::LinkNumbers;
use super::link::{Link, Role, link};
use super::problem::Checked;
use super::section::{Item, Section};
use super::settings::settings;
use super::tree::Kind;
use super::words;
use cwndlab_cc::params::Parameters;
use cwndlab_sim::mptcp::MptcpOptions;
use std::collections::BTreeSet;

/// RFC 8684 allows more, but no host has that many addresses.
const MOST_PATHS: usize = 32;

/// The numbers of the links of each path.
#[derive(Clone)]
pub(crate) struct Paths {
    pub(crate) links: Vec<Vec<usize>>,
    multipath: bool,
}

/// Reads `path` or `paths`; a flow has exactly one of them.
pub(crate) fn links(section: &mut Section, numbers: &LinkNumbers) -> Checked<Paths> {
    let Some(item) = section.item("paths") else {
        let links = section.require("path", |item| path(item, numbers))?;
        return Ok(Paths { links: vec![links], multipath: false });
    };
    if section.has("path") {
        return Err(item.error("expected one `path`, or the `paths` of the subflows, found both"));
    }
    let Kind::List(_) = item.node.kind else {
        return Err(item.needs("a list of paths such as [[\"long\"], [\"short\"]]"));
    };
    let items = item.list()?;
    if items.is_empty() || items.len() > MOST_PATHS {
        return Err(item.error(format!("expected 1 to {MOST_PATHS} paths, found {}", items.len())));
    }
    let read: Vec<_> = items.iter().map(|item| path(item, numbers)).collect();
    Ok(Paths { links: read.into_iter().collect::<Checked<_>>()?, multipath: true })
}

fn path(item: &Item, numbers: &LinkNumbers) -> Checked<Vec<usize>> {
    let Kind::List(_) = item.node.kind else {
        return Err(item.needs("a list of links such as [\"bottleneck\"]"));
    };
    let items = item.list()?;
    if items.is_empty() {
        return Err(item.error("a path crosses at least one link"));
    }
    let found: Vec<_> = items.iter().map(|item| link_index(item, numbers)).collect();
    let path = found.into_iter().collect::<Checked<Vec<_>>>()?;
    let mut crossed = BTreeSet::new();
    match path.iter().position(|link| !crossed.insert(*link)) {
        Some(n) => Err(items[n].error("a path crosses each link at most once; this one is already in it")),
        None => Ok(path),
    }
}

fn link_index(item: &Item, numbers: &LinkNumbers) -> Checked<usize> {
    let name = item.text()?;
    numbers.get(name).copied().ok_or_else(|| {
        let known: Vec<&str> = numbers.keys().copied().collect();
        item.error(words::unknown("link", name, &known))
    })
}

/// The access link of each path: `access` is one table for all paths, or a list with one for each.
pub(crate) fn access(
    section: &mut Section,
    paths: &Checked<Paths>,
    overhead: u64,
    cx: &Context,
) -> Checked<Vec<Option<Link>>> {
    let read = |item: &Item| link(item.section()?, "", &Role::Access, overhead, cx);
    let count = paths.as_ref().map_or(1, |paths| paths.links.len());
    let Some(item) = section.item("access") else { return Ok(vec![None; count]) };
    let multipath = paths.as_ref().is_ok_and(|paths| paths.multipath);
    if !multipath || !matches!(item.node.kind, Kind::List(_)) {
        return Ok(vec![Some(read(&item)?); count]);
    }
    let items = item.list()?;
    let links: Vec<_> = items.iter().map(read).collect();
    if items.len() != count {
        return Err(
            item.error(format!("expected {count} access links, one for each path, found {}", items.len()))
        );
    }
    links.into_iter().map(|link| link.map(Some)).collect()
}

/// The options of a multipath connection; `None` for a single `path`.
pub(crate) fn options(section: &mut Section, paths: &Checked<Paths>) -> Checked<Option<MptcpOptions>> {
    let multipath = paths.as_ref().is_ok_and(|paths| paths.multipath);
    let Some(item) = section.item("mptcp") else {
        return Ok(multipath.then(MptcpOptions::default));
    };
    if paths.is_ok() && !multipath {
        return Err(
            item.error("a flow with one `path` has no subflows; give `paths` for a multipath connection")
        );
    }
    let mut own = item.section()?;
    let settings = settings(&mut own, &MptcpOptions::specs());
    own.finish()?;
    Ok(Some(MptcpOptions::with(&settings?)))
}
