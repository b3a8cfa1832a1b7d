//! The modules of this crate stand in an order: each imports those below it and none above.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// From the ground up. The contract knows neither the frames nor the algorithms; what ships is known to `algo` and, by it, to
/// `registry` alone.
const ORDER: &[&str] = &[
    "units",
    "breakdown",
    "params",
    "probes",
    "contract",
    "algorithm",
    "testing",
    // What algorithms share.
    "cubic_curve",
    "round",
    "rtt_peak",
    "hystart",
    "bbr",
    "classic",
    "coupled",
    "decisions",
    "algo",
    "registry",
];

/// For each module those that it names.
type Imports = BTreeMap<String, BTreeSet<String>>;

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in folder.read_dir().expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if entry.is_dir() {
            sources(&entry, found);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            found.push(entry);
        }
    }
}

/// The module that a file belongs to, `algo` and each algorithm being one of its own: `classic`, `algo`, `algo::bbr3`.
fn module(file: &Path) -> String {
    let path: Vec<_> = file.iter().map(|part| part.to_str().expect("a plain name")).collect();
    let path: Vec<_> = path.iter().map(|part| part.trim_end_matches(".rs")).collect();
    match path[..] {
        ["algo", "mod"] => "algo".to_owned(),
        ["algo", algorithm, ..] => format!("algo::{algorithm}"),
        [module, ..] => module.to_owned(),
        [] => unreachable!("a file has a name"),
    }
}

/// What follows each of these prefixes, as far as it is an identifier.
fn followers<'a>(text: &'a str, prefix: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(prefix).skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        &rest[..end]
    })
}

#[expect(clippy::disallowed_methods, reason = "the sources have to be read")]
fn imports() -> Imports {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut imports = Imports::new();
    for file in files {
        let within = file.strip_prefix(&root).expect("below src");
        if within == Path::new("lib.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&file).expect("a source");
        let code: String = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        // A macro's `$crate::` is the code of whoever calls it.
        let code = code.replace("$crate::", "");
        let of = module(within);
        let known = imports.entry(of.clone()).or_default();
        let is_macro = |name: &str| code.contains(&format!("crate::{name}!"));
        for name in followers(&code, "crate::").filter(|name| !is_macro(name)) {
            assert!(ORDER.contains(&name), "{}: `crate::{name}` is no module", within.display());
            known.insert(name.to_owned());
        }
        for name in followers(&code, "crate::algo::") {
            known.insert(format!("algo::{name}"));
        }
        if within.parent() == Some(Path::new("algo")) {
            known.extend(followers(&code, "use super::").map(|name| format!("algo::{name}")));
        }
        known.remove(&of);
        if of.starts_with("algo::") {
            // Its own room; the algorithms of it are looked at one by one.
            known.remove("algo");
        }
    }
    imports
}

#[test]
fn a_module_imports_only_those_below_it() {
    let place = |module: &str| {
        let top = module.split("::").next().expect("a name");
        ORDER.iter().position(|known| *known == top).unwrap_or_else(|| panic!("{module} has no place"))
    };
    let imports = imports();
    assert!(imports.len() > ORDER.len() && imports["algo::fbbr2"].contains("algo::bbr2"), "{imports:?}");
    for (module, imported) in &imports {
        let upwards: Vec<_> = imported.iter().filter(|other| place(other) > place(module)).collect();
        assert!(upwards.is_empty(), "{module} imports {upwards:?}, which stand above it");
    }
}

#[test]
fn no_algorithm_imports_one_that_imports_it() {
    let mut left = imports();
    left.retain(|module, _| module.starts_with("algo::"));
    left.values_mut().for_each(|imported| imported.retain(|other| other.starts_with("algo::")));
    // Whoever imports none that is left is in no circle.
    while let Some(free) = left.iter().find(|(_, imported)| imported.is_empty()).map(|(name, _)| name.clone())
    {
        left.remove(&free);
        for imported in left.values_mut() {
            imported.remove(&free);
        }
    }
    assert!(left.is_empty(), "in a circle: {left:?}");
}
