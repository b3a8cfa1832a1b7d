//! Which characters a reader sees.

/// Whether a reader sees the character: no control, format, separator or filler character.
pub(crate) fn is_visible(c: char) -> bool {
    // Rust writes what cannot be printed as \u{..}; behind a letter, a mark that combines with one can be.
    let printable = !c.is_control() && !format!("a{c}").escape_debug().to_string().starts_with("a\\u");
    printable && !is_filler(c)
}

/// A character as it is shown in a message: by its number if it is not seen.
pub(crate) fn shown(c: char) -> String {
    if is_filler(c) { c.escape_unicode().collect() } else { c.escape_debug().collect() }
}

/// Unicode calls these letters and marks, and lets them look like nothing (`Default_Ignorable_Code_Point`).
fn is_filler(c: char) -> bool {
    matches!(c,
        '\u{34f}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{e0100}'..='\u{e01ef}')
}
