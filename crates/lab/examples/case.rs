//! Runs a case of `cwndlab bench` once, without Python, for tools that count instructions and cache misses:
//!
//! ```sh
//! cargo build --release -p cwndlab-lab --example case
//! valgrind --tool=callgrind target/release/examples/case flows-1000 duration=4s
//! ```

use cwndlab_lab::bench::bench;
use mimalloc::MiMalloc;
use std::process::ExitCode;

/// The same as in the extension module.
#[global_allocator]
static MEMORY: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(case) = arguments.next() else {
        eprintln!("usage: case NAME [KEY=VALUE ...]");
        return ExitCode::from(2);
    };
    let overrides: Option<Vec<(String, String)>> = arguments
        .map(|text| text.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned())))
        .collect();
    let Some(overrides) = overrides else {
        eprintln!("expected KEY=VALUE after the name of the case");
        return ExitCode::from(2);
    };
    let registry = cwndlab_cc::Registry::built_in();
    let queues = cwndlab_sim::queue::Queues::built_in();
    match bench(&case, 1, &registry, &queues, &overrides) {
        Ok(report) => println!("{report}"),
        Err(problem) => {
            eprintln!("{problem}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
