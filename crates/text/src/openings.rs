//! Which texts cannot be any word of a list, told by their first two letters.

/// The first two letters of words: for each first letter, a bit for each second one.
pub struct Openings([u32; 26]);

impl Openings {
    /// The beginnings of no words, to start from.
    pub const NONE: Self = Self([0; 26]);

    /// Adds a word, which starts with two lower-case letters.
    #[must_use]
    pub const fn with(self, word: &str) -> Self {
        let word = word.as_bytes();
        self.with_letters(word[0], word[1])
    }

    /// Adds a word by its first two letters.
    #[must_use]
    pub(crate) const fn with_letters(mut self, first: u8, second: u8) -> Self {
        self.0[(first - b'a') as usize] |= 1 << (second - b'a');
        self
    }

    /// Tells whether one of the words may stand at the start of a text, in letters of either case.
    pub fn may_start(&self, text: &[u8]) -> bool {
        let [first, second, ..] = text else { return false };
        let letter = |byte: u8| (byte | 0x20).wrapping_sub(b'a');
        let seconds = self.0.get(usize::from(letter(*first))).copied().unwrap_or(0);
        seconds.checked_shr(u32::from(letter(*second))).unwrap_or(0) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_beginnings_may_be_words() {
        const KNOWN: Openings = Openings::NONE.with("error").with("zz");
        for (text, expected) in [("error", true), ("ERa", true), ("zZ", true), ("ex", false), ("e", false), ("", false)]
        {
            assert_eq!(KNOWN.may_start(text.as_bytes()), expected, "{text}");
        }
        for text in ["[[", "{r", "e_", "e@", "e\u{e9}", "\u{e9}r", "e1"] {
            assert!(!KNOWN.may_start(text.as_bytes()), "{text}");
        }
    }
}
