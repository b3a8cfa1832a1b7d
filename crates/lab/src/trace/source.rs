//! Where traces are read from.

use std::collections::BTreeMap;
use std::fs::{File, FileType};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// An open trace.
pub struct TraceFile<'a> {
    /// Its content.
    pub reader: Box<dyn BufRead + 'a>,
    /// Its size in bytes.
    pub bytes: u64,
}

/// A source of traces by name.
pub trait TraceFiles {
    /// Opens a trace that a scenario file names.
    ///
    /// # Errors
    /// Why it cannot be opened, as the end of a sentence.
    fn open(&self, name: &str) -> Result<TraceFile<'_>, String>;

    /// Opens a trace that is named outside of the file, as on a command line.
    ///
    /// # Errors
    /// Why it cannot be opened, as the end of a sentence.
    fn open_override(&self, name: &str) -> Result<TraceFile<'_>, String> {
        self.open(name)
    }
}

/// Traces in files; names are relative to this directory.
pub struct Directory(pub PathBuf);

impl Directory {
    /// The directory of a scenario file.
    #[must_use]
    pub fn of(scenario: &str) -> Self {
        let path = PathBuf::from(scenario);
        Self(path.parent().map_or_else(PathBuf::new, PathBuf::from))
    }
}

impl TraceFiles for Directory {
    fn open(&self, name: &str) -> Result<TraceFile<'_>, String> {
        open(&self.0.join(name))
    }

    /// A name on the command line is relative to the current folder; if no file is there, to the scenario's folder.
    fn open_override(&self, name: &str) -> Result<TraceFile<'_>, String> {
        let (here, there) = (Path::new(name), self.0.join(name));
        match (here.is_file() || here == there, here.exists(), there.exists()) {
            (true, ..) | (false, true, false) => open(here),
            (false, _, true) => open(&there),
            (false, false, false) => Err(format!(
                "there is no file `{name}`, neither in the current folder nor in `{}`",
                self.0.display()
            )),
        }
    }
}

fn open(path: &Path) -> Result<TraceFile<'static>, String> {
    let shown = path.display();
    // Checked before opening, because opening a pipe would wait for its writer.
    let about = std::fs::metadata(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
    if !about.is_file() {
        return Err(format!("{shown} is {}, not a file", kind(about.file_type())));
    }
    let file = File::open(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
    Ok(TraceFile { reader: Box::new(BufReader::with_capacity(1 << 16, file)), bytes: about.len() })
}

/// A noun for something that is not a file.
fn kind(found: FileType) -> &'static str {
    match found {
        _ if found.is_dir() => "a folder",
        _ if found.is_fifo() => "a pipe",
        _ if found.is_socket() => "a socket",
        _ => "a device",
    }
}

/// Traces in memory.
#[derive(Default)]
pub struct Memory(pub BTreeMap<String, String>);

impl TraceFiles for Memory {
    fn open(&self, name: &str) -> Result<TraceFile<'_>, String> {
        let text = self.0.get(name).ok_or_else(|| format!("there is no file `{name}`"))?;
        Ok(TraceFile { reader: Box::new(text.as_bytes()), bytes: text.len() as u64 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn content(opened: Result<TraceFile<'_>, String>) -> String {
        let mut text = String::new();
        opened.expect("a file").reader.read_to_string(&mut text).expect("text");
        text
    }

    #[test]
    fn a_name_beside_the_file_means_the_folder_where_one_stands_first() {
        // Tests run in the folder of their crate.
        let folder = std::env::temp_dir().join(format!("cwndlab-traces-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("src")).expect("a folder");
        std::fs::write(folder.join("Cargo.toml"), "100\n").expect("a file");
        std::fs::write(folder.join("only-there"), "200\n").expect("a file");
        let traces = Directory::of(&folder.join("scenario.toml").to_string_lossy());
        assert_eq!(content(traces.open("Cargo.toml")), "100\n");
        assert!(content(traces.open_override("Cargo.toml")).contains("[package]"));
        assert_eq!(content(traces.open_override("only-there")), "200\n");
        let missing = traces.open_override("nowhere").err().expect("no such file");
        assert!(missing.contains("`nowhere`, neither in the current folder nor in"), "{missing}");
        assert!(missing.contains(&format!("`{}`", folder.display())), "{missing}");
        assert!(traces.open_override("src").err().expect("a folder").contains("is a folder, not a file"));
        std::fs::remove_dir_all(folder).expect("to clean up");
    }
}
