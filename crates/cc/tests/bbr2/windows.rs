//! The window every 100 ms, as text.

use super::common::check_golden;
use super::pipe::*;
use cwndlab_cc::Span;
use std::fmt::Write as _;

/// What happens after so many tenths of a second.
fn script(tenth: u32) -> Option<&'static str> {
    match tenth {
        25 => Some("each 25th segment is lost"),
        28 => Some("nothing is lost"),
        31 => Some("timeout"),
        60 => Some("others' packets add 40 ms"),
        180 => Some("they are gone"),
        _ => None,
    }
}

fn play(pipe: &mut Pipe, event: &str) {
    match event {
        "each 25th segment is lost" => pipe.lose_each = 25,
        "nothing is lost" => pipe.lose_each = 0,
        "timeout" => pipe.time_out(),
        "others' packets add 40 ms" => pipe.queue = Span::from_millis(40),
        _ => pipe.queue = Span::ZERO,
    }
}

fn snapshot(name: &str) -> String {
    let mut pipe = Pipe::new(name, &[], 1);
    let mut text = format!("# {name}, defaults\n");
    let _ = writeln!(
        text,
        "# 8 Mbit/s, RTT 100 ms, an ACK for every segment of 1000 bytes, initial window 10 segments"
    );
    let _ = writeln!(text, "# time [0.1 s]  window [whole segments]  pace [Mbit/s, one decimal]  mode  then");
    for tenth in 0..=220 {
        let (window, pace) = (pipe.cwnd() as u64, pipe.pace_mbps());
        let event = script(tenth).unwrap_or_default();
        let line = format!("{tenth:4} {window:5} {pace:6.1} {:2} {event}", pipe.mode() as u8);
        let _ = writeln!(text, "{}", line.trim_end());
        if !event.is_empty() {
            play(&mut pipe, event);
        }
        pipe.run_for(Span::from_millis(100));
    }
    text
}

#[test]
fn windows_over_time() {
    for name in ["bbr2", "fbbr2"] {
        check_golden(&format!("{name}.txt"), &snapshot(name));
    }
}
