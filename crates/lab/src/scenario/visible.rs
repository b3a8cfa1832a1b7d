//! Visible characters.

/// Whether a character is visible: not a control, format, separator or filler character.
pub(crate) fn is_visible(c: char) -> bool {
    // Rust escapes unprintable characters as \u{..}. After a letter, it does not escape a combining mark.
    let printable = !c.is_control() && !format!("a{c}").escape_debug().to_string().starts_with("a\\u");
    printable && !is_filler(c)
}

/// A character as shown in a message: escaped by its number if it is invisible.
pub(crate) fn shown(c: char) -> String {
    if is_filler(c) { c.escape_unicode().collect() } else { c.escape_debug().collect() }
}

/// Letters and marks that Unicode renders as nothing (`Default_Ignorable_Code_Point`).
fn is_filler(c: char) -> bool {
    matches!(c,
        '\u{34f}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{e0100}'..='\u{e01ef}')
}
