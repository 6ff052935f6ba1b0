//! Runs of base64 and the like, which hold no words.

/// Bytes of a run of base64 characters, of either alphabet, that may still be words: paths are shorter.
const MAX_WORDY_BYTES: usize = 256;

/// The runs of base64 in a text that is read from its beginning to its end; linear in it.
pub struct Base64Runs<'a> {
    text: &'a [u8],
    /// Offset up to which the text has been measured.
    next: usize,
}

impl<'a> Base64Runs<'a> {
    /// Starts at the beginning of a text. A short one has no runs.
    pub fn of(text: &'a str) -> Self {
        let next = if text.len() > MAX_WORDY_BYTES { 0 } else { text.len() };
        Self { text: text.as_bytes(), next }
    }

    /// Returns the end of the run that begins at an offset, if one does; offsets only go up.
    pub fn end(&mut self, at: usize) -> Option<usize> {
        if at < self.next {
            return None;
        }
        let length = self.text[at..].iter().take_while(|byte| is_data(**byte)).count();
        self.next = at + length + 1;
        (length > MAX_WORDY_BYTES).then_some(at + length)
    }
}

const fn is_data(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-')
}
