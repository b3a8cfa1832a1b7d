//! Messages about unknown words: the allowed ones, and those that were probably meant.

use super::tree::shortened;

/// Longer words are not treated as misspellings.
const LONGEST_MISSPELLING: usize = 64;
/// The most allowed words that a message lists.
const LISTED: usize = 24;
/// The most equally near words that a message suggests.
const SUGGESTED: usize = 4;

/// Other common names of a key, the key here, and a note on how the two differ.
const ORDINARY: &[(&str, &str, &str)] = &[
    ("algorithm", "cc", ""),
    ("bandwidth", "rate", ""),
    ("buffer", "queue", ""),
    ("buffer_size", "queue", ""),
    ("bw", "rate", ""),
    ("capacity", "rate", ""),
    ("congestion_control", "cc", ""),
    ("latency", "delay", "one way"),
    ("packet_loss", "loss", ""),
    ("qdisc", "queue", ""),
    ("route", "path", ""),
    ("rtt", "delay", "one way: half of the round trip"),
    ("time", "duration", ""),
];

/// The allowed words that were most likely meant: all that are nearest by edit distance, up to a limit.
#[must_use]
pub fn nearest<'a>(word: &str, allowed: &[&'a str]) -> Vec<&'a str> {
    if word.len() > LONGEST_MISSPELLING {
        return Vec::new();
    }
    let word = word.to_lowercase();
    let distance = |candidate: &str| strsim::damerau_levenshtein(&word, &candidate.to_lowercase());
    let tolerated = ((word.chars().count() + 1) / 3).max(1);
    let least = allowed.iter().map(|candidate| distance(candidate)).min();
    let near = allowed.iter().copied().filter(|candidate| Some(distance(candidate)) == least);
    if least.is_some_and(|least| least <= tolerated) { near.take(SUGGESTED).collect() } else { Vec::new() }
}

/// Our key for an ordinary word, and a note on how they differ.
pub(crate) fn ordinary(word: &str) -> Option<(&'static str, &'static str)> {
    let word = word.to_lowercase();
    let entry = ORDINARY.iter().find(|(ordinary, ..)| *ordinary == word);
    entry.map(|(_, key, note)| (*key, *note))
}

/// "unknown key `rat`; did you mean `rate`? Allowed: rate, delay"
pub(crate) fn unknown(noun: &str, word: &str, allowed: &[&str]) -> String {
    let known = ordinary(word).filter(|(key, _)| noun == "key" && allowed.contains(key));
    let meant = match known {
        Some((key, note)) => noted(key, note),
        None => alternatives(&nearest(word, allowed)),
    };
    unknown_but(noun, word, &meant, allowed)
}

/// Like [`unknown`], with a known suggestion `meant`; an empty text means that there is none.
pub(crate) fn unknown_but(noun: &str, word: &str, meant: &str, allowed: &[&str]) -> String {
    let suggestion = if meant.is_empty() {
        "; allowed: ".to_owned()
    } else {
        format!("; did you mean {meant}? Allowed: ")
    };
    format!("unknown {noun} `{}`{suggestion}{}", shortened(word), listed(allowed))
}

/// "`delay` (one way)"
pub(crate) fn noted(key: &str, note: &str) -> String {
    if note.is_empty() { format!("`{key}`") } else { format!("`{key}` ({note})") }
}

/// "`bbr1`, `bbr2` or `bbr3`"
pub(crate) fn alternatives<T: AsRef<str>>(words: &[T]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{}`", word.as_ref())).collect();
    match quoted.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => quoted.concat(),
    }
}

/// The words separated by commas, up to the most that a message lists.
pub(crate) fn listed(words: &[&str]) -> String {
    match words.len() {
        0 => "none".to_owned(),
        n if n > LISTED => format!("{}, ... ({n} in all)", words[..LISTED].join(", ")),
        _ => words.join(", "),
    }
}
