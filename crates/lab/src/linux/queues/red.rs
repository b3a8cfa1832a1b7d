//! Linux's RED. The kernel has no defaults for it; most of those here are `tc`'s (iproute2), which computes
//! values that are not given.

use super::Settings;
use super::options::{attribute, words};
use cwndlab_cc::Rate;
use cwndlab_cc::params::Parameters;
use cwndlab_learn::math;

/// The packet length in bytes by which settings in packets become bytes, which RED counts.
const PACKET: u64 = 1500;
/// The average is a 32-bit fixed-point number with `ewma` fractional bits: thresholds up to this many packets fit.
const MOST_PACKETS: u64 = 2796;
/// Entries of the table by which the average decays while the queue is empty.
const FADING: usize = 256;
/// The most halvings of the average.
const MOST_HALVINGS: f64 = 31.0;
/// The rate that the average's decay assumes on a link without a rate, in bit/s.
const USUAL_RATE: f64 = 10e6;
/// Attributes and flags of `include/uapi/linux/pkt_sched.h`.
const TCA_RED_PARMS: u16 = 1;
const TCA_RED_STAB: u16 = 2;
const TCA_RED_MAX_P: u16 = 3;
const TC_RED_ECN: u8 = 1;
const TC_RED_HARDDROP: u8 = 2;
const TC_RED_ADAPTATIVE: u8 = 4;

cwndlab_cc::parameters! {
    /// The parameters of Linux's RED.
    pub struct RedParams {
        limit: u64 = 1000, "limit", Allowed::Count(1, 4 * MOST_PACKETS), "packets",
            "most that may wait, in packets of 1500 bytes", "the length of a device's queue in Linux";
        min: u64 = 0, "min", Allowed::Count(0, MOST_PACKETS / 3), "packets",
            "average above which it drops, in packets of 1500 bytes; 0: a third of max", "tc of iproute2";
        max: u64 = 0, "max", Allowed::Count(0, MOST_PACKETS), "packets",
            "average above which it drops all, in packets of 1500 bytes; 0: three times min, or a quarter of the limit",
            "tc of iproute2";
        probability: f64 = 0.02, "probability", Allowed::Number(0.0001, 1.0), "",
            "share that it drops just below max", "tc of iproute2";
        ewma: u64 = 9, "ewma", Allowed::Count(1, 9), "",
            "weight of the newest length in the average, as a power of a half", "a choice of ours: 1/512, near the usual 0.002";
        ecn: bool = false, "ecn", Allowed::Flag, "",
            "mark ECN-capable packets instead of dropping them", "Linux sch_red";
        hard_drop: bool = false, "hard_drop", Allowed::Flag, "",
            "with ecn, drop rather than mark above max", "Linux sch_red";
        adaptive: bool = false, "adaptive", Allowed::Flag, "",
            "adapt the probability every 0.5 s to keep the average halfway between min and max", "Linux sch_red";
    }
}

impl RedParams {
    /// The thresholds in bytes.
    fn thresholds(&self) -> (u64, u64) {
        let max = match (self.max, self.min) {
            (0, 0) => self.limit * PACKET / 4,
            (0, min) => 3 * min * PACKET,
            (max, _) => max * PACKET,
        };
        (if self.min == 0 { max / 3 } else { self.min * PACKET }, max)
    }

    fn flags(&self) -> u8 {
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        flag(self.ecn, TC_RED_ECN)
            | flag(self.hard_drop, TC_RED_HARDDROP)
            | flag(self.adaptive, TC_RED_ADAPTATIVE)
    }
}

/// Checks that `min` is below `max`.
pub(super) fn check(settings: &Settings) -> Result<(), String> {
    let params = RedParams::with(settings);
    let (min, max) = params.thresholds();
    if min < max {
        return Ok(());
    }
    Err(format!("expected `min` below `max`, found min = {} and max = {}", params.min, params.max))
}

/// `struct tc_red_qopt`, the decay table and the probability.
pub(super) fn options(settings: &Settings, rate: Option<Rate>) -> Vec<u8> {
    let params = RedParams::with(settings);
    let (min, max) = params.thresholds();
    let (table, scale) = fading(params.ewma, rate.map_or(USUAL_RATE, |rate| rate.0 as f64));
    // TCA_RED_MAX_P sets the probability, so the field for it in `tc_red_qopt` is not used.
    let mut of_all = words(&[params.limit * PACKET, min, max]);
    of_all.extend([params.ewma as u8, 0, scale, params.flags()]);
    let probability = words(&[(params.probability * 2f64.powi(32)) as u64]);
    [
        attribute(TCA_RED_PARMS, &of_all),
        attribute(TCA_RED_STAB, &table),
        attribute(TCA_RED_MAX_P, &probability),
    ]
    .concat()
}

/// The decay table and its scale: entry `i` is the number of halvings of the average after the queue was
/// empty for `i` times 2^scale microseconds.
///
/// As in `tc`: the entry `i` is -ln(1 - W) (i 2^scale) / (time of a packet), at most 31.
fn fading(ewma: u64, bits_per_second: f64) -> ([u8; FADING], u8) {
    let micros_of_packet = PACKET as f64 * 8.0 / bits_per_second * 1e6;
    let each_micro = -math::ln(1.0 - 0.5f64.powi(ewma as i32)) / micros_of_packet;
    let longest = MOST_HALVINGS / each_micro;
    let scale = (0..31).find(|scale| longest / f64::from(1_u32 << scale) < 2.0 * FADING as f64).unwrap_or(31);
    let step = f64::from(1_u32 << scale) * each_micro;
    let mut table = [0; FADING];
    table.iter_mut().enumerate().for_each(|(i, entry)| *entry = (i as f64 * step).min(MOST_HALVINGS) as u8);
    table[FADING - 1] = MOST_HALVINGS as u8;
    (table, scale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwndlab_cc::params::Value;

    fn count(name: &str, value: u64) -> (String, Value) {
        (name.to_owned(), Value::Count(value))
    }

    fn thresholds(settings: &Settings) -> (u64, u64) {
        RedParams::with(settings).thresholds()
    }

    #[test]
    fn thresholds_that_are_not_given_are_those_of_tc() {
        assert_eq!(thresholds(&[]), (125_000, 375_000));
        assert_eq!(thresholds(&[count("limit", 400)]), (50_000, 150_000));
        assert_eq!(thresholds(&[count("min", 20)]), (30_000, 90_000));
        assert_eq!(thresholds(&[count("max", 60)]), (30_000, 90_000));
    }

    #[test]
    fn thresholds_are_in_order() {
        assert_eq!(check(&[count("min", 20)]), Ok(()));
        let error = check(&[count("min", 20), count("max", 20)]).unwrap_err();
        assert_eq!(error, "expected `min` below `max`, found min = 20 and max = 20");
    }

    #[test]
    fn every_threshold_fits_the_kernels_average() {
        let fits = |(_, max): (u64, u64)| max < 1 << (31 - 9);
        assert!(fits(thresholds(&[count("limit", 4 * MOST_PACKETS)])));
        assert!(fits(thresholds(&[count("min", MOST_PACKETS / 3)])));
        assert!(fits(thresholds(&[count("max", MOST_PACKETS)])));
    }

    /// `tc -s qdisc add ... red limit 400000 avpkt 1500 bandwidth 10Mbit` with W = 1/512: its formula by hand.
    #[test]
    fn the_average_fades_with_the_time_of_packets() {
        let (table, scale) = fading(9, 10e6);
        // A packet takes 1200 us; 31 of -ln(1 - 1/512) = 0.001955 are 19.03 s, less than 512 x 2^16 us.
        assert_eq!(scale, 16);
        assert_eq!((table[0], table[1], table[10], table[255]), (0, 0, 1, 31));
        assert!(table.is_sorted());
    }

    #[test]
    fn it_is_as_long_as_linux_expects() {
        assert_eq!(options(&[], None).len(), (4 + 16) + (4 + 256) + (4 + 4));
    }
}
