//! The example scenarios, and those of the papers, are sound.

use cwndlab_cc::Registry;
use cwndlab_lab::scenario::{Backend, Source, read};
use cwndlab_lab::trace::Directory;
use cwndlab_sim::queue::Queues;
use std::path::{Path, PathBuf};

fn scenarios() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let entries = std::fs::read_dir(directory).expect("the folder of scenarios");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut scenarios: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|ending| ending == "toml")).collect();
    scenarios.sort();
    scenarios
}

#[test]
fn every_example_is_accepted_without_a_remark() {
    assert!(scenarios().len() >= 12);
    for path in scenarios() {
        let file = path.to_string_lossy().into_owned();
        let text = std::fs::read(&path).expect("a readable file");
        let (registry, queues, traces) = (Registry::built_in(), Queues::built_in(), Directory::of(&file));
        let source = Source {
            backend: Backend::Sim,
            file: &file,
            registry: &registry,
            queues: &queues,
            traces: &traces,
        };
        let (scenario, problems) = read(&text, &source, &[]);
        let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert!(problems.is_empty(), "{}", told.join("\n"));
        let scenario = scenario.expect("a scenario");
        // A minute is measured; a warm-up may come before it.
        assert!(scenario.duration().as_secs_f64() <= 80.0, "{file} takes too long to be an example");
    }
}
