//! How a controller that cannot go on ends its run: the user reads the controller's own message, not that the
//! simulator failed.

/// Why a controller ended its run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breakdown(pub String);

/// Ends the run: unwinds to the caller that started it, bypassing the panic hook, so nothing is printed.
pub fn break_off(why: impl Into<String>) -> ! {
    std::panic::resume_unwind(Box::new(Breakdown(why.into())))
}
