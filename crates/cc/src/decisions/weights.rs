//! Initial weights that a scenario gives a network.

use crate::params::{FileCheck, FileKind, NamedFile, Parameter, Value};
use cwndlab_learn::Weights;
use std::sync::Arc;

/// The word for weights that are drawn at random.
const FRESH: &str = "fresh";

/// Initial weights: none, or those of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GivenWeights(Option<Arc<NamedFile>>);

impl GivenWeights {
    /// The weights of a file with this name and hash.
    #[must_use]
    pub fn of_file(name: &str, hash: String, weights: Weights) -> Self {
        Self(Some(Arc::new(NamedFile::new(name, hash, weights))))
    }

    /// The file's weights; `None` if no file was given.
    #[must_use]
    pub fn weights(&self) -> Option<&Weights> {
        self.0.as_ref()?.content()
    }

    /// What the parameter accepts: a file that passes this check, or the word for none.
    #[must_use]
    pub const fn kind(check: FileCheck) -> FileKind {
        FileKind { format: "safetensors", none: FRESH, check }
    }
}

impl Parameter for GivenWeights {
    fn to_value(&self) -> Value {
        self.0.clone().map_or(Value::Word(FRESH), Value::File)
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Word(FRESH) => Some(Self(None)),
            Value::File(file) => file.content::<Weights>().map(|_| Self(Some(file.clone()))),
            _ => None,
        }
    }
}
