//! Stretches of base64 and the like, which hold no words.

/// Longest stretch of base64 characters that may be made of words: paths are shorter.
pub const MAX_WORDY_BYTES: usize = 256;

/// Returns the length of the stretch of base64 characters, of either alphabet, at the start of a text; linear in it.
pub fn stretch(text: &[u8]) -> usize {
    text.iter().take_while(|byte| is_data(**byte)).count()
}

const fn is_data(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-')
}
