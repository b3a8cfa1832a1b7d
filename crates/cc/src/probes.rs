//! Values that a recording may show. Name and value of each stand together in one table, from which a controller's
//! [`probes`](crate::contract::CongestionControl::probes) and [`probe`](crate::contract::CongestionControl::probe) both come.

/// A value of a `T`: its name, with its unit, and where to read it; not a number where there is none.
pub type Probe<T> = (&'static str, fn(&T) -> f64);

/// No algorithm has more.
const MOST: usize = 16;

/// The names of several tables, one behind the other, joined by the compiler.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    names: [&'static str; MOST],
    count: usize,
}

impl Names {
    /// Those of one table.
    #[must_use]
    pub const fn of<T>(table: &[Probe<T>]) -> Self {
        Self { names: [""; MOST], count: 0 }.and(table)
    }

    /// With those of another behind them.
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

    /// As a list.
    #[must_use]
    pub const fn list(&self) -> &[&'static str] {
        self.names.split_at(self.count).0
    }
}

/// Reads the values of a table into the first places; returns the others.
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
