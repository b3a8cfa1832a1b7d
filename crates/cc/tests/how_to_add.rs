//! The example of docs/how-to-add-an-algorithm.md, as it is there; `python/tests/test_docs.py` compares them.

use cwndlab_cc::{Algorithm, Classic, Context, Event, Window, WindowRule};

struct Gentle;

impl WindowRule for Gentle {
    fn grow(&mut self, _cx: &Context, window: &mut Window, acked: u64) {
        window.grow_one_per(window.cwnd, acked); // one segment per round trip
    }
    fn shrink(&mut self, _cx: &Context, window: &Window, _event: Event) -> u64 {
        window.cwnd / 10 * 8
    }
}

fn algorithm() -> Algorithm {
    Algorithm {
        name: "gentle",
        summary: "Reno that keeps 0.8 of its window",
        source: "an example",
        departures: &[],
        params: [].into(),
        declares: Classic::<Gentle>::DECLARATION.into(),
        build: std::sync::Arc::new(|setup, _settings| Box::new(Classic::new(setup, Gentle))),
    }
}

mod tests {
    use super::algorithm;
    use cwndlab_cc::testing::{Sender, check_declaration};
    use cwndlab_cc::{Registry, Setup, Span};

    #[test]
    fn it_keeps_what_it_says() {
        let mut registry = Registry::built_in();
        registry.add(algorithm());
        let gentle = registry.get("gentle").unwrap();
        check_declaration(gentle, &[]);
        let setup = Setup { mss: 1448, initial_window: 144_800, initial_ssthresh: u64::MAX, paced: false };
        let mut sender = Sender::new((gentle.build)(&setup, &[]), 1448, Span::from_millis(50));
        sender.lose();
        assert_eq!(sender.cwnd_segments() as u64, 80);
        sender.round(2);
        assert_eq!(sender.cwnd_segments() as u64, 81);
    }
}
