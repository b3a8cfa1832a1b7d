//! Packet captures of bulk transfers: what arrived when, and the sender's losses, timeouts and RTT peaks
//! (timeout patterns, Lim et al. 2004 section 3), counted by the simulator's code.

mod arrivals;
mod connection;
mod losses;
mod reading;

use connection::Transfer;
use serde_json::{Value, json};
use std::io::Read;

/// At which end a capture was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Beside the sender of the data.
    Sender,
    /// Beside the receiver.
    Receiver,
}

/// What a capture shows.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// At which end it was made, as far as its times show.
    pub side: Side,
    /// When data arrived, in ns since the first packet of the transfer, and the bytes of their IP packets:
    /// beside the receiver those of the packets themselves, beside the sender those that ACKs report.
    pub arrivals: Vec<(u64, f64)>,
    /// Facts of the transfer, and beside the sender its losses, as JSON.
    pub facts: Value,
}

/// Reads a capture (pcap or pcapng), and analyses the connection that carries the most data.
///
/// # Errors
/// The input is not a capture, is damaged, or has no TCP connection with data.
pub fn read(capture: impl Read + Send) -> Result<Analysis, String> {
    let contents = reading::read(capture)?;
    let all = contents.connections.len();
    let Some(transfer) = Transfer::largest(contents.connections) else {
        return Err(format!(
            "expected a TCP connection with data, found none among {} packets",
            contents.packets
        ));
    };
    let side = transfer.side();
    let arrivals = match side {
        Side::Sender => arrivals::acknowledged(&transfer),
        Side::Receiver => arrivals::arrived(&transfer),
    };
    let mut facts = json!({
        "packets": contents.packets,
        "connections": all,
        "from": transfer.from.to_string(),
        "to": transfer.to.to_string(),
        "captured_at": if side == Side::Sender { "sender" } else { "receiver" },
        "length_s": transfer.length_ns() as f64 / 1e9,
        "data_segments": transfer.data().count(),
        "payload_bytes": transfer.payload_bytes(),
    });
    if let (Side::Sender, Some(facts)) = (side, facts.as_object_mut()) {
        facts.extend(losses::losses(&transfer));
    }
    Ok(Analysis { side, arrivals, facts })
}
