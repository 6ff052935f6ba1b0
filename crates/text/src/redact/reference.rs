//! Values assigned to keys that name a credential, as contextweaver 0.18 finds them.

use super::chars::{fold, is_space, is_word, part, rest, skip_space, skip_space_back, tick};
use super::keys::MIN_VALUE;
use super::scanner::Scanner;

/// Key words of contextweaver 0.18; `?` stands for an optional hyphen or underscore.
const COMPAT_WORDS: [&[u8]; 7] = [b"api?key", b"secret", b"token", b"password", b"passwd", b"pwd", b"access?key"];

impl Scanner<'_> {
    /// Finds the value after a separator as contextweaver 0.18 does.
    ///
    /// The key part of its pattern can only be the whole run of key characters before the
    /// separator, and a key word anywhere in that run is enough; so no backtracking is needed.
    pub(super) fn assign_reference(&self, at: usize, floor: usize) -> Option<(usize, usize)> {
        let end = skip_space_back(self.text, floor, at);
        let head = part(self.text, floor, end);
        let key = head.trim_end_matches(|c| matches!(c, '.' | '-') || is_word(c));
        tick(head.len() - key.len());
        if !has_reference_word(rest(head, key.len())) {
            return None;
        }
        let start = skip_space(self.text, at + 1);
        let quote = |c: char| matches!(c, '"' | '\'');
        let tail = rest(self.text, start);
        let value = tail.strip_prefix(quote).unwrap_or(tail);
        let mut length = value.len();
        let mut count = 0;
        for (offset, c) in value.char_indices() {
            if is_space(c) || quote(c) {
                length = offset;
                break;
            }
            count += 1;
        }
        tick(count);
        if count < MIN_VALUE {
            return None;
        }
        let left = rest(value, length);
        let left = left.strip_prefix(quote).unwrap_or(left);
        Some((start, self.text.len() - left.len()))
    }
}

/// Reports whether a run of key characters contains one of [`COMPAT_WORDS`].
fn has_reference_word(key: &str) -> bool {
    tick(key.len());
    key.char_indices().any(|(at, c)| {
        matches!(fold(c), 'a' | 's' | 't' | 'p') && COMPAT_WORDS.iter().any(|word| folds_to(rest(key, at), word))
    })
}

/// Reports whether text starts with a key word, ignoring case as Python does.
fn folds_to(text: &str, word: &[u8]) -> bool {
    let mut chars = text.chars().peekable();
    word.iter().all(|&wanted| {
        if wanted == b'?' {
            chars.next_if(|&c| matches!(c, '-' | '_'));
            return true;
        }
        chars.next().is_some_and(|c| fold(c) == char::from(wanted))
    })
}
