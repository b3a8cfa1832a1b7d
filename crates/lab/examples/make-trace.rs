//! Writes the synthetic traces of `scenarios/traces/`: `cargo run -p cwndlab-lab --example make-trace -- DIRECTORY`.

use cwndlab_lab::trace::{Synthetic, synthetic};
use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let directory = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "scenarios/traces".to_owned()));
    std::fs::create_dir_all(&directory)?;
    for (file, kind) in [("synthetic-lte.down", Synthetic::LTE_DOWN), ("synthetic-lte.up", Synthetic::LTE_UP)]
    {
        std::fs::write(directory.join(file), synthetic(&kind))?;
    }
    Ok(())
}
