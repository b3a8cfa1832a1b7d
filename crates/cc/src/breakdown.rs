//! How a controller that cannot go on ends its run: the user reads its own words, and not that the simulator failed.

/// Why a controller broke its run off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breakdown(pub String);

/// Breaks the run off. It unwinds to the caller that started the run, past the panic hook: nothing is printed.
pub fn break_off(why: impl Into<String>) -> ! {
    std::panic::resume_unwind(Box::new(Breakdown(why.into())))
}
