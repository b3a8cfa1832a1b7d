//! The places where packets are captured, one pcapng file each: the two ends of the connections,
//! and both ends of each link.

use super::pcapng::{Heading, Writer};
use super::{Guarded, Output, file, file_name, folder, told};
use cwndlab_cc::Time;
use cwndlab_sim::tap::{End, LinkEvent};
use std::path::{Path, PathBuf};

/// The longest headers: IPv4 and TCP, each with 40 bytes of options.
const SNAP: u32 = 120;
/// Suffix of a return direction's name. No other name of a link ends like this.
const BACK: &str = ".back";

/// One of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place(usize);

const SENDERS: Place = Place(0);
const RECEIVERS: Place = Place(1);

/// The capture places of a link: where packets enter it and where they leave it.
#[derive(Clone, Copy)]
struct Sight {
    entry: Place,
    exit: Place,
}

/// The files of a run.
pub struct Ends {
    folder: PathBuf,
    comment: String,
    files: Vec<Guarded<Writer<Output>>>,
    sights: Vec<Sight>,
}

impl Ends {
    /// Creates the files for the ends of connections in this folder; each carries the comment.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn create(at: &Path, comment: String) -> Result<Self, String> {
        folder(at, 2, "pcap")?;
        let mut ends = Self { folder: at.to_owned(), comment, files: Vec::new(), sights: Vec::new() };
        ends.add("senders", "what leaves and reaches the TCP of all senders")?;
        ends.add("receivers", "what leaves and reaches the TCP of all receivers")?;
        Ok(ends)
    }

    /// Adds the files for the links with these names, in the order in which events number them. A link and
    /// its return direction share their ends.
    ///
    /// # Errors
    /// There are too many files, or one cannot be written.
    pub fn add_links<'a>(&mut self, names: impl Iterator<Item = &'a str> + Clone) -> Result<(), String> {
        let forward = names.clone().filter(|name| !name.ends_with(BACK)).count();
        folder(&self.folder, self.files.len() + 2 * forward, "pcap")?;
        let mut known: Vec<(&str, Sight)> = Vec::new();
        for name in names {
            let sight = match name.strip_suffix(BACK) {
                None => {
                    let sight = self.add_link(known.len() + 1, name)?;
                    known.push((name, sight));
                    sight
                }
                Some(link) => {
                    let there = known.iter().find(|(name, _)| *name == link).map(|(_, there)| *there);
                    let there = there.ok_or_else(|| format!("pcap: `{name}` is the way back of no link"))?;
                    Sight { entry: there.exit, exit: there.entry }
                }
            };
            self.sights.push(sight);
        }
        Ok(())
    }

    fn add_link(&mut self, number: usize, name: &str) -> Result<Sight, String> {
        let mut add = |end: &str| {
            let description = format!("the {end} end of link {name}");
            self.add(&format!("link-{number}-{}-{end}", file_name(name)), &description)
        };
        Ok(Sight { entry: add("near")?, exit: add("far")? })
    }

    fn add(&mut self, name: &str, description: &str) -> Result<Place, String> {
        let at = self.folder.join(format!("{name}.pcapng"));
        let heading = Heading { comment: &self.comment, name, description, snap: SNAP };
        let writer = Writer::new(file(&at)?, &heading).map_err(|error| told(&at, &error))?;
        self.files.push(Guarded::new(at, writer));
        Ok(Place(self.files.len() - 1))
    }

    /// The place that captures packets sent or received at this end of connections.
    #[must_use]
    pub fn of_connections(end: End) -> Place {
        match end {
            End::Sender => SENDERS,
            End::Receiver => RECEIVERS,
        }
    }

    /// The place that captures the packet of this event, if any does.
    #[must_use]
    pub fn of_link(&self, link: u32, event: LinkEvent<'_>) -> Option<Place> {
        let sight = self.sights.get(link as usize)?;
        match event {
            LinkEvent::Enqueued { .. } => Some(sight.entry),
            LinkEvent::Delivered { .. } => Some(sight.exit),
            LinkEvent::Dropped { .. }
            | LinkEvent::Marked { .. }
            | LinkEvent::Served { .. }
            | LinkEvent::Lost { .. } => None,
        }
    }

    /// Adds a packet of `length` bytes with these headers.
    pub fn write(&mut self, at: Time, place: Place, headers: &[u8], length: u32) {
        self.files[place.0].write(|file| file.packet(at, headers, length));
    }

    /// Writes what is still buffered.
    ///
    /// # Errors
    /// Why a file is not complete.
    pub fn finish(self) -> Result<(), String> {
        self.files.into_iter().try_for_each(|file| file.finish(Writer::flush))
    }
}
