//! Words that are allowed, and the nearest of them to one that is not.

use super::tree::shortened;

/// Words longer than this are no misspelling of ours.
const LONGEST_MISSPELLING: usize = 64;
/// How many allowed words a message lists.
const LISTED: usize = 24;

/// The allowed word that was most likely meant.
pub(crate) fn nearest<'a>(word: &str, allowed: &[&'a str]) -> Option<&'a str> {
    if word.len() > LONGEST_MISSPELLING {
        return None;
    }
    let word = word.to_lowercase();
    let distance = |candidate: &str| strsim::damerau_levenshtein(&word, &candidate.to_lowercase());
    let best = allowed.iter().copied().min_by_key(|candidate| distance(candidate))?;
    let tolerated = ((word.chars().count() + 1) / 3).max(1);
    (distance(best) <= tolerated).then_some(best)
}

/// "unknown key `rat`; did you mean `rate`? Allowed: rate, delay"
pub(crate) fn unknown(noun: &str, word: &str, allowed: &[&str]) -> String {
    let meant = match nearest(word, allowed) {
        Some(near) => format!("; did you mean `{near}`? Allowed: "),
        None => "; allowed: ".to_owned(),
    };
    format!("unknown {noun} `{}`{meant}{}", shortened(word), listed(allowed))
}

/// The words with commas, as many as a message bears.
pub(crate) fn listed(words: &[&str]) -> String {
    match words.len() {
        0 => "none".to_owned(),
        n if n > LISTED => format!("{}, ... ({n} in all)", words[..LISTED].join(", ")),
        _ => words.join(", "),
    }
}
