//! Where traces are read from.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

/// An open trace.
pub struct TraceFile<'a> {
    /// Its content.
    pub reader: Box<dyn BufRead + 'a>,
    /// Its size.
    pub bytes: u64,
}

/// Something that has traces by name.
pub trait TraceFiles {
    /// Opens one.
    ///
    /// # Errors
    /// Why it cannot be opened, as the end of a sentence.
    fn open(&self, name: &str) -> Result<TraceFile<'_>, String>;
}

/// Traces that are files; relative names start from this directory.
pub struct Directory(pub PathBuf);

impl Directory {
    /// The directory that a scenario file stands in.
    #[must_use]
    pub fn of(scenario: &str) -> Self {
        let path = PathBuf::from(scenario);
        Self(path.parent().map_or_else(PathBuf::new, PathBuf::from))
    }
}

impl TraceFiles for Directory {
    fn open(&self, name: &str) -> Result<TraceFile<'_>, String> {
        let path = self.0.join(name);
        let shown = path.display();
        // Looked at before it is opened: opening a pipe would wait for its writer.
        let about = std::fs::metadata(&path).map_err(|error| format!("cannot read {shown}: {error}"))?;
        if !about.is_file() {
            return Err(format!("{shown} is not a file"));
        }
        let file = File::open(&path).map_err(|error| format!("cannot read {shown}: {error}"))?;
        Ok(TraceFile { reader: Box::new(BufReader::with_capacity(1 << 16, file)), bytes: about.len() })
    }
}

/// Traces that are in memory.
#[derive(Default)]
pub struct Memory(pub BTreeMap<String, String>);

impl TraceFiles for Memory {
    fn open(&self, name: &str) -> Result<TraceFile<'_>, String> {
        let text = self.0.get(name).ok_or_else(|| format!("there is no trace `{name}`"))?;
        Ok(TraceFile { reader: Box::new(text.as_bytes()), bytes: text.len() as u64 })
    }
}
