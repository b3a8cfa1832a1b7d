//! The loss functions.

/// A loss, averaged over a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The squared error.
    Mse,
    /// Half of the squared error up to 1, and the absolute error less a half beyond (Huber 1964; Mnih et al.
    /// 2015 clip the error, which has the same gradient).
    Huber,
}

impl Loss {
    /// The loss of this error, and its derivative by the error.
    #[must_use]
    pub fn of(self, error: f32) -> (f32, f32) {
        match self {
            Loss::Mse => (error * error, 2.0 * error),
            Loss::Huber if error.abs() <= 1.0 => (0.5 * error * error, error),
            Loss::Huber => (error.abs() - 0.5, error.signum()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_and_slopes() {
        assert_eq!(Loss::Mse.of(-3.0), (9.0, -6.0));
        assert_eq!(Loss::Huber.of(0.5), (0.125, 0.5));
        assert_eq!(Loss::Huber.of(-3.0), (2.5, -1.0));
    }
}
