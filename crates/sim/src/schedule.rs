//! A value that changes at known times.

use cwndlab_cc::Time;

/// Steps in order of time; the first is at time zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule<T>(Vec<(Time, T)>);

impl<T: Copy> Schedule<T> {
    /// The same value for ever.
    #[must_use]
    pub fn constant(value: T) -> Self {
        Self(vec![(Time::ZERO, value)])
    }

    /// Steps (time, value); `None` unless the first is at zero and the times increase.
    #[must_use]
    pub fn steps(steps: Vec<(Time, T)>) -> Option<Self> {
        let ordered = steps.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let starts = steps.first().is_some_and(|step| step.0 == Time::ZERO);
        (ordered && starts).then_some(Self(steps))
    }

    /// The value at time zero.
    #[must_use]
    pub fn first(&self) -> T {
        self.0[0].1
    }

    /// The value in force at this time.
    #[must_use]
    pub fn at(&self, time: Time) -> T {
        if self.0.len() == 1 {
            return self.0[0].1;
        }
        let after = self.0.partition_point(|step| step.0 <= time);
        self.0[after.max(1) - 1].1
    }

    /// The time of the first change after this time.
    #[must_use]
    pub fn next_change(&self, time: Time) -> Option<Time> {
        let after = self.0.partition_point(|step| step.0 <= time);
        self.0.get(after).map(|step| step.0)
    }

    /// All values with the times at which they begin.
    pub fn iter(&self) -> impl Iterator<Item = &(Time, T)> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_take_effect_at_their_time() {
        let steps = Schedule::steps(vec![(Time(0), 1), (Time(10), 2), (Time(20), 3)]).unwrap();
        assert_eq!([0, 9, 10, 19, 20, 99].map(|t| steps.at(Time(t))), [1, 1, 2, 2, 3, 3]);
        assert_eq!(steps.next_change(Time(9)), Some(Time(10)));
        assert_eq!(steps.next_change(Time(10)), Some(Time(20)));
        assert_eq!(steps.next_change(Time(20)), None);
    }

    #[test]
    fn disorder_is_refused() {
        assert!(Schedule::steps(vec![(Time(5), 1)]).is_none());
        assert!(Schedule::steps(vec![(Time(0), 1), (Time(5), 1), (Time(5), 2)]).is_none());
        assert!(Schedule::<u8>::steps(vec![]).is_none());
    }
}
