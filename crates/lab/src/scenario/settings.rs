//! Settings of declared parameters: those of an algorithm, a queue or `[tcp]`.

use super::problem::Checked;
use super::quantity;
use super::section::{Item, Section};
use super::tree::Kind;
use cwndlab_cc::params::{Allowed, ParamSpec, Value};

/// The word for no limit, for parameters without an upper bound.
pub(crate) const UNLIMITED: &str = "unlimited";

/// The settings of these parameters in a table.
pub(crate) fn settings(section: &mut Section, specs: &[ParamSpec]) -> Checked<Vec<(String, Value)>> {
    settings_by(section, specs, setting)
}

/// Like [`settings`], with each value read by `read`.
pub(crate) fn settings_by(
    section: &mut Section,
    specs: &[ParamSpec],
    read: impl Fn(&Item, &ParamSpec) -> Checked<Value>,
) -> Checked<Vec<(String, Value)>> {
    let read = specs.iter().map(|spec| section.get(spec.name, |item| read(item, spec)));
    // All are read before the first failure is returned, so that every failure is reported.
    let read: Vec<_> = read.collect();
    let values = read.into_iter().collect::<Checked<Vec<_>>>()?;
    let named = specs.iter().zip(values).filter_map(|(spec, value)| Some((spec.name.to_owned(), value?)));
    Ok(named.collect())
}

/// Checks that no value in this table exceeds the parameter that bounds it; `value` has those in force.
pub(crate) fn in_order(
    section: &mut Section,
    specs: &[ParamSpec],
    value: impl Fn(&str) -> Option<Value>,
) -> Checked<()> {
    for spec in specs {
        let Some(other) = spec.at_most else { continue };
        let (Some(low), Some(high)) = (value(spec.name), value(other)) else { continue };
        let Some(item) = section.item(spec.name).or_else(|| section.item(other)) else { continue };
        if low.exceeds(&high) {
            let name = spec.name;
            return Err(
                item.error(format!("expected {name} of at most {other} = {high}, found {name} = {low}"))
            );
        }
    }
    Ok(())
}

/// The last setting of a parameter, which is the one in force.
pub(crate) fn last(settings: &[(String, Value)], name: &str) -> Option<Value> {
    settings.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.clone())
}

/// The value in force: the last setting, or the default.
pub(crate) fn in_force(specs: &[ParamSpec], settings: &[(String, Value)], name: &str) -> Option<Value> {
    let default = || specs.iter().find(|spec| spec.name == name).map(|spec| spec.default.clone());
    last(settings, name).or_else(default)
}

/// Reads one value; file parameters, which only algorithms have, are refused here.
pub(crate) fn setting(item: &Item, spec: &ParamSpec) -> Checked<Value> {
    let value = match spec.allowed {
        Allowed::Number(..) => Value::Number(number(item, spec)?),
        Allowed::Count(..) => Value::Count(count(item, spec)?),
        Allowed::Flag => Value::Flag(item.flag()?),
        Allowed::Word(words) => Value::Word(item.word("word", words)?),
        Allowed::Span(..) => Value::Span(quantity::time(item)?),
        Allowed::File(_) => return Err(item.needs(&spec.expected())),
    };
    if spec.allowed.admits(&value) { Ok(value) } else { Err(item.needs(&spec.expected())) }
}

fn number(item: &Item, spec: &ParamSpec) -> Checked<f64> {
    match item.node.kind {
        Kind::Whole(_) | Kind::Real(_) => item.real(),
        _ => Err(item.needs(&spec.expected())),
    }
}

/// Reads a whole number, or a size if the unit is bytes, or [`UNLIMITED`] if there is no upper bound.
fn count(item: &Item, spec: &ParamSpec) -> Checked<u64> {
    match (&item.node.kind, spec.allowed) {
        (Kind::Whole(n), _) => u64::try_from(*n).map_err(|_| item.needs(&spec.expected())),
        (Kind::Text(text), Allowed::Count(_, u64::MAX)) if text == UNLIMITED => Ok(u64::MAX),
        (Kind::Text(_), _) if spec.unit == "bytes" => quantity::bytes(item),
        _ => Err(item.needs(&spec.expected())),
    }
}
