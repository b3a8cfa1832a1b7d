//! Weights files that an algorithm's parameter names.

use super::context::Context;
use super::problem::{Checked, Place};
use super::section::{Item, Section};
use crate::weights::{MAX_BYTES, decode, hash};
use cwndlab_cc::params::{Allowed, FileKind, NamedFile, ParamSpec, Value};
use std::io::Read;
use std::sync::Arc;

/// Reads the weights file that an item names.
pub(crate) fn given(item: &Item, kind: &FileKind, spec: &ParamSpec, cx: &Context) -> Checked<Value> {
    let name = item.text().map_err(|_| item.needs(&spec.allowed.to_string()))?;
    if name == kind.none {
        return Ok(Value::Word(kind.none));
    }
    let found = match item.node.at {
        Place::Override(_) => cx.traces.open_override(name),
        _ => cx.traces.open(name),
    };
    let file = found.map_err(|why| item.error(why))?;
    let mut content = Vec::new();
    let read = file.reader.take(MAX_BYTES + 1).read_to_end(&mut content);
    read.map_err(|error| item.error(format!("cannot read {name}: {error}")))?;
    if content.len() as u64 > MAX_BYTES {
        return Err(
            item.error(format!("{name}: more than {} MB, larger than any network here", MAX_BYTES >> 20))
        );
    }
    let weights = decode(&content).map_err(|why| item.error(format!("{name}: {why}")))?;
    Ok(Value::File(Arc::new(NamedFile::new(name, hash(&content), weights))))
}

/// Checks that weights files among these settings fit the other settings.
pub(crate) fn suit(section: &mut Section, specs: &[ParamSpec], settings: &[(String, Value)]) -> Checked<()> {
    for spec in specs {
        let Allowed::File(kind) = spec.allowed else { continue };
        let set = settings.iter().find(|(name, _)| name == spec.name);
        let Some((_, Value::File(file))) = set else { continue };
        if let (Err(why), Some(item)) = ((kind.check)(file, settings), section.item(spec.name)) {
            return Err(item.error(format!("{}: {why}", file.name)));
        }
    }
    Ok(())
}
