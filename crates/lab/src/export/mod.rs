//! Files for other programs: qlog for qvis, and pcapng for Wireshark (docs/exports.md).
//!
//! An export is a tap beside [`Watch`](cwndlab_sim::Watch). It writes everything as it happens, so a run of
//! any length takes little memory, and an interrupted run leaves readable files.

mod bytes;
mod capture;
mod connection;
mod ends;
mod headers;
mod pcapng;
mod qlog;

use capture::Capture;
use cwndlab_cc::Time;
use cwndlab_sim::SimSpec;
use cwndlab_sim::flow::Flow;
use cwndlab_sim::packet::Packet;
use cwndlab_sim::tap::{End, FlowEvent, LinkEvent, State, Tap};
use cwndlab_sim::tcp::Sender;
pub use ends::{Ends, Place};
use qlog::Qlog;
pub use qlog::{Acknowledgement, Log, Metrics, Segment};
use std::fs::{File, create_dir_all};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

/// The most files that one export may have open at a time: many systems allow a process no more than 1024.
const MOST_FILES: usize = 256;
/// The most characters of a flow's or link's name that go into a file name.
const NAME_CHARS: usize = 60;

/// The requested exports: for each a folder, in which every seed gets a subfolder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// For qlog: one file for each flow.
    pub qlog: Option<PathBuf>,
    /// For pcapng: one file for each end.
    pub pcap: Option<PathBuf>,
}

type Output = BufWriter<File>;

/// The tap that writes the requested exports.
pub(crate) struct Export {
    qlog: Option<Qlog>,
    capture: Option<Capture>,
}

impl Export {
    /// Creates the files.
    ///
    /// # Errors
    /// There are too many files, or one cannot be written.
    pub(crate) fn create(wanted: &Wanted, spec: &SimSpec) -> Result<Self, String> {
        let folder = |wanted: &Option<PathBuf>| wanted.as_ref().map(|at| folder_of(at, spec.seed));
        Ok(Self {
            qlog: folder(&wanted.qlog).map(|folder| Qlog::create(&folder, spec)).transpose()?,
            capture: folder(&wanted.pcap).map(|folder| Capture::create(&folder, spec)).transpose()?,
        })
    }

    /// Creates the files of the links, when the run is about to begin.
    ///
    /// # Errors
    /// Those of [`Export::create`].
    pub(crate) fn begin(&mut self, state: &State<'_>) -> Result<(), String> {
        self.capture.as_mut().map_or(Ok(()), |capture| capture.begin(state))
    }
}

impl Tap for Export {
    /// If a file is not complete, a message that says why.
    type Outcome = Result<(), String>;

    const DETAILED: bool = true;

    fn on_flow(&mut self, now: Time, flow: u32, event: FlowEvent<'_>) {
        if let Some(qlog) = &mut self.qlog {
            qlog.on_flow(now, flow, event);
        }
    }

    fn on_packet(&mut self, now: Time, end: End, flow: &Flow, packet: &Packet) {
        if let Some(qlog) = self.qlog.as_mut().filter(|_| end == End::Sender) {
            qlog.on_packet(now, flow, packet);
        }
        if let Some(capture) = &mut self.capture {
            capture.on_packet(now, end, flow, packet);
        }
    }

    fn on_turn(&mut self, now: Time, flow: u32, sender: &Sender) {
        if let Some(qlog) = &mut self.qlog {
            qlog.on_turn(now, flow, sender);
        }
    }

    fn on_link(&mut self, at: Time, link: u32, event: LinkEvent<'_>) {
        if let Some(capture) = &mut self.capture {
            capture.on_link(at, link, event);
        }
    }

    fn finish(self, _state: &State<'_>) -> Result<(), String> {
        self.qlog.map_or(Ok(()), Qlog::finish)?;
        self.capture.map_or(Ok(()), Capture::finish)
    }
}

/// The subfolder of a seed.
#[must_use]
pub fn folder_of(wanted: &Path, seed: u64) -> PathBuf {
    wanted.join(format!("seed-{seed}"))
}

/// Creates a folder, unless the export would put too many files there.
fn folder(at: &Path, files: usize, what: &str) -> Result<(), String> {
    if files > MOST_FILES {
        return Err(format!("{what}: expected at most {MOST_FILES} files, found {files}"));
    }
    create_dir_all(at).map_err(|error| told(at, &error))
}

/// Creates a file.
fn file(at: &Path) -> Result<Output, String> {
    File::create(at).map(BufWriter::new).map_err(|error| told(at, &error))
}

fn told(at: &Path, error: &io::Error) -> String {
    format!("{}: {error}", at.display())
}

/// A name made fit for a file name: names may have any visible character.
fn file_name(name: &str) -> String {
    let proper = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    name.chars().take(NAME_CHARS).map(proper).collect()
}

/// A file and the first error in writing it; nothing is written after an error.
struct Guarded<T> {
    at: PathBuf,
    file: T,
    error: Option<io::Error>,
}

impl<T> Guarded<T> {
    fn new(at: PathBuf, file: T) -> Self {
        Self { at, file, error: None }
    }

    fn write(&mut self, write: impl FnOnce(&mut T) -> io::Result<()>) {
        if self.error.is_none() {
            self.error = write(&mut self.file).err();
        }
    }

    /// Writes what is still buffered.
    fn finish(mut self, flush: impl FnOnce(&mut T) -> io::Result<()>) -> Result<(), String> {
        self.write(flush);
        self.error.map_or(Ok(()), |error| Err(told(&self.at, &error)))
    }
}
