//! The connection to the front end: a socket on which each message is one packet.

use cwndlab_lab::linux::remote::Line;
use std::fs::File;
use std::io::{Error, ErrorKind, Read, Write};
use std::process::exit;
use std::sync::Arc;

/// The longest answer in bytes.
const ANSWER: usize = 4096;

/// The socket, if the front end has given one.
#[derive(Clone, Debug, Default)]
pub struct Socket(Option<Arc<File>>);

impl Socket {
    /// Wraps an open socket.
    #[must_use]
    pub fn open(file: File) -> Self {
        Self(Some(Arc::new(file)))
    }

    fn exchange(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let mut file = self.0.as_deref().ok_or(ErrorKind::NotConnected)?;
        file.write_all(message)?;
        let mut answer = vec![0; ANSWER];
        let bytes = loop {
            match file.read(&mut answer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        if bytes == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        answer.truncate(bytes);
        Ok(answer)
    }
}

impl Line for Socket {
    fn ask(&mut self, message: &[u8]) -> Vec<u8> {
        self.exchange(message).unwrap_or_else(|error| {
            eprintln!("cwndlab: no answer from the front end: {error}");
            exit(1)
        })
    }
}
