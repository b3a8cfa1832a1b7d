//! Values that a recording may show. One table holds the name and the value of each; it provides a
//! controller's [`probes`](crate::contract::CongestionControl::probes) and
//! [`probe`](crate::contract::CongestionControl::probe).

/// A value of a `T`: its name, with its unit, and a function that reads it; NaN where there is no value.
pub type Probe<T> = (&'static str, fn(&T) -> f64);

/// No algorithm has more probes than this.
const MOST: usize = 16;

/// The names of several tables, one after the other, joined at compile time.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    names: [&'static str; MOST],
    count: usize,
}

impl Names {
    /// The names of one table.
    #[must_use]
    pub const fn of<T>(table: &[Probe<T>]) -> Self {
        Self { names: [""; MOST], count: 0 }.and(table)
    }

    /// Appends the names of another table.
    #[must_use]
    pub const fn and<T>(mut self, table: &[Probe<T>]) -> Self {
        let mut n = 0;
        while n < table.len() {
            self.names[self.count] = table[n].0;
            self.count += 1;
            n += 1;
        }
        self
    }

    /// The names as a list.
    #[must_use]
    pub const fn list(&self) -> &[&'static str] {
        self.names.split_at(self.count).0
    }
}

/// Reads the values of a table into the first places of `out`; returns the remaining places.
pub fn read<'a, T>(table: &[Probe<T>], of: &T, out: &'a mut [f64]) -> &'a mut [f64] {
    let (own, others) = out.split_at_mut(table.len());
    for ((_, value), place) in table.iter().zip(own) {
        *place = value(of);
    }
    others
}

/// 1 for yes, 0 for no.
#[must_use]
pub fn flag(yes: bool) -> f64 {
    f64::from(u8::from(yes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &[Probe<f64>] = &[("x", |x| *x), ("twice", |x| 2.0 * x)];
    const SECOND: &[Probe<bool>] = &[("flag", |yes| flag(*yes))];
    const NAMES: &Names = &Names::of(FIRST).and(SECOND);

    #[test]
    fn tables_stand_one_behind_the_other() {
        assert_eq!(NAMES.list(), ["x", "twice", "flag"]);
        let mut out = [0.0; 3];
        read(SECOND, &true, read(FIRST, &1.5, &mut out));
        assert_eq!(out, [1.5, 3.0, 1.0]);
    }
}
