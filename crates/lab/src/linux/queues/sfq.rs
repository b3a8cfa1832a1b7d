//! Linux's SFQ: fair queueing by hashes, without delay control.

use super::Settings;
use super::options::words;
use cwndlab_cc::Rate;
use cwndlab_cc::params::Parameters;

cwndlab_cc::parameters! {
    /// The parameters of Linux's SFQ.
    pub struct SfqParams {
        limit: u64 = 127, "limit", Allowed::Count(2, 8_306_816), "packets",
            "most packets that may wait; Linux takes at most depth x flows", "Linux sch_sfq";
        flows: u64 = 128, "flows", Allowed::Count(2, 65_408), "",
            "flows that have a queue of their own at one time", "Linux sch_sfq";
        depth: u64 = 127, "depth", Allowed::Count(1, 127), "packets",
            "most packets of one flow that may wait", "Linux sch_sfq";
        quantum: u64 = 1514, "quantum", Allowed::Count(256, 1_048_576), "bytes",
            "bytes that a flow may send at its turn", "Linux sch_sfq, psched_mtu of Ethernet";
        perturb: u64 = 0, "perturb", Allowed::Count(0, 2_147_483), "s",
            "how often the hash changes; 0: never", "Linux sch_sfq";
        head_drop: bool = false, "head_drop", Allowed::Flag, "",
            "drop a flow's oldest packet rather than the newest", "Linux sch_sfq";
    }
}

/// The last words of `struct tc_sfq_qopt_v1`, which stay zero: its RED, which is off, and its statistics.
const REST: usize = 11;

/// `struct tc_sfq_qopt_v1`.
pub(super) fn options(settings: &Settings, _rate: Option<Rate>) -> Vec<u8> {
    let SfqParams { limit, flows, depth, quantum, perturb, head_drop } = SfqParams::with(settings);
    // 0 leaves the number of hashes as it is.
    let divisor = 0;
    let mut all = words(&[quantum, perturb, limit, divisor, flows, depth, head_drop.into()]);
    all.extend(words(&[0; REST]));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwndlab_cc::params::Value;

    #[test]
    fn it_is_as_long_as_linux_expects() {
        let options = options(&[("head_drop".to_owned(), Value::Flag(true))], None);
        assert_eq!(options.len(), 72);
        assert_eq!(options[..28], words(&[1514, 0, 127, 0, 128, 127, 1]));
    }
}
