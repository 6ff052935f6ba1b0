//! English stems: the Snowball project's "English" stemmer (Porter2), version 3, for lower-case words.
//!
//! Written from its published description (<https://snowballstem.org/algorithms/english/stemmer.html>), because the
//! crates that have it bring twenty kilobytes of generated code each. Words have no apostrophes here.

/// Words that are their own stem, or have one that no rule finds.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("andes", "andes"),
    ("atlas", "atlas"),
    ("bias", "bias"),
    ("cosmos", "cosmos"),
    ("early", "earli"),
    ("gently", "gentl"),
    ("howe", "howe"),
    ("idly", "idl"),
    ("news", "news"),
    ("only", "onli"),
    ("singly", "singl"),
    ("skies", "sky"),
    ("skis", "ski"),
    ("sky", "sky"),
    ("ugly", "ugli"),
];

/// Beginnings after which endings may be cut although the vowels say otherwise.
const REGIONS: &[&str] = &["arsen", "commun", "emerg", "gener", "inter", "later", "organ", "past", "univers"];

/// Endings and what becomes of them behind the first region; of several that fit, the longest counts.
const STEP_2: &[(&str, &str)] = &[
    ("ization", "ize"),
    ("ational", "ate"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("iveness", "ive"),
    ("biliti", "ble"),
    ("lessli", "less"),
    ("tional", "tion"),
    ("entli", "ent"),
    ("ation", "ate"),
    ("alism", "al"),
    ("aliti", "al"),
    ("ousli", "ous"),
    ("iviti", "ive"),
    ("fulli", "ful"),
    ("ogist", "og"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("abli", "able"),
    ("izer", "ize"),
    ("ator", "ate"),
    ("alli", "al"),
    ("bli", "ble"),
    ("ogi", "og"),
    ("li", ""),
];

const STEP_3: &[(&str, &str)] = &[
    ("ational", "ate"),
    ("tional", "tion"),
    ("alize", "al"),
    ("icate", "ic"),
    ("iciti", "ic"),
    ("ative", ""),
    ("ical", "ic"),
    ("ness", ""),
    ("ful", ""),
];

/// Endings cut behind the second region.
const STEP_4: &[(&str, &str)] = &[
    ("ement", ""),
    ("ance", ""),
    ("ence", ""),
    ("able", ""),
    ("ible", ""),
    ("ment", ""),
    ("ant", ""),
    ("ent", ""),
    ("ism", ""),
    ("ate", ""),
    ("iti", ""),
    ("ous", ""),
    ("ive", ""),
    ("ize", ""),
    ("ion", ""),
    ("al", ""),
    ("er", ""),
    ("ic", ""),
];

const fn is_vowel(byte: u8) -> bool {
    matches!(byte, b'a' | b'e' | b'i' | b'o' | b'u' | b'y')
}

/// Replaces a lower-case word by its stem. Letters beyond ASCII count as consonants.
pub fn stem(word: &mut String) {
    if word.chars().nth(2).is_none() {
        return;
    }
    if let Some((_, stem)) = EXCEPTIONS.iter().find(|(known, _)| known == word) {
        word.clear();
        word.push_str(stem);
        return;
    }
    let mut letters = StemBuffer::new(std::mem::take(word).into_bytes());
    letters.plural();
    letters.past();
    letters.final_y();
    letters.derived();
    letters.adjective();
    letters.suffix();
    letters.final_e();
    letters.text.make_ascii_lowercase();
    // Only ASCII was cut, so that this is text still.
    *word = String::from_utf8(letters.text).unwrap_or_default();
}

/// A word at work: `Y` is a y that is a consonant, and both regions are where they begin.
struct StemBuffer {
    text: Vec<u8>,
    first: usize,
    second: usize,
}

impl StemBuffer {
    fn new(mut text: Vec<u8>) -> Self {
        for at in 0..text.len() {
            if text[at] == b'y' && (at == 0 || is_vowel(text[at - 1])) {
                text[at] = b'Y';
            }
        }
        let region = |start: usize| {
            let vowel = (start..text.len()).find(|at| is_vowel(text[*at]));
            let behind = vowel.and_then(|vowel| (vowel..text.len()).find(|at| !is_vowel(text[*at])));
            behind.map_or(text.len(), |at| at + 1)
        };
        let known = REGIONS.iter().find(|start| text.starts_with(start.as_bytes()));
        let first = known.map_or_else(|| region(0), |start| start.len());
        let second = region(first);
        Self { text, first, second }
    }

    fn ends(&self, suffix: &str) -> bool {
        self.text.ends_with(suffix.as_bytes())
    }

    /// Cuts bytes off the end and puts a new end there.
    fn replace(&mut self, len: usize, with: &str) {
        self.text.truncate(self.text.len() - len);
        self.text.extend_from_slice(with.as_bytes());
    }

    fn has_vowel(&self, end: usize) -> bool {
        self.text[..end].iter().any(|byte| is_vowel(*byte))
    }

    /// Tells whether the word up to `end` ends in a short syllable.
    fn ends_short(&self, end: usize) -> bool {
        match &self.text[..end] {
            [first, last] => is_vowel(*first) && !is_vowel(*last),
            [.., before, vowel, last] => {
                (!is_vowel(*before) && is_vowel(*vowel) && !is_vowel(*last) && !matches!(last, b'w' | b'x' | b'Y'))
                    || self.text[..end].ends_with(b"past")
            }
            _ => false,
        }
    }

    /// Step 1a.
    fn plural(&mut self) {
        let len = self.text.len();
        if self.ends("sses") {
            self.replace(2, "");
        } else if self.ends("ied") || self.ends("ies") {
            // One character before it, which may have several bytes.
            let long = std::str::from_utf8(&self.text[..len - 3]).is_ok_and(|head| head.chars().nth(1).is_some());
            self.replace(if long { 2 } else { 1 }, "");
        } else if self.ends("s") && !self.ends("ss") && !self.ends("us") && self.has_vowel(len.saturating_sub(2)) {
            self.replace(1, "");
        }
    }

    /// Step 1b.
    fn past(&mut self) {
        if let Some(suffix) = ["eedly", "eed"].into_iter().find(|suffix| self.ends(suffix)) {
            let head = &self.text[..self.text.len() - suffix.len()];
            if head.len() >= self.first && ![&b"proc"[..], b"exc", b"succ"].contains(&head) {
                self.replace(suffix.len(), "ee");
            }
            return;
        }
        let Some(suffix) = ["ingly", "edly", "ing", "ed"].into_iter().find(|suffix| self.ends(suffix)) else { return };
        let end = self.text.len() - suffix.len();
        if suffix == "ing" {
            match &self.text[..end] {
                [before, b'y'] if !is_vowel(*before) => return self.replace(4, "ie"),
                b"even" | b"cann" | b"inn" | b"earr" | b"herr" | b"out" => return,
                _ => {}
            }
        }
        if !self.has_vowel(end) {
            return;
        }
        self.text.truncate(end);
        match self.text.as_slice() {
            [.., b'a', b't'] | [.., b'b', b'l'] | [.., b'i', b'z'] => self.text.push(b'e'),
            [b'a' | b'e' | b'o', one, other] if one == other && is_double(*one) => {}
            [.., one, other] if one == other && is_double(*one) => self.text.truncate(end - 1),
            _ if end == self.first && self.ends_short(end) => self.text.push(b'e'),
            _ => {}
        }
    }

    /// Step 1c.
    fn final_y(&mut self) {
        if let [_, .., before, b'y' | b'Y'] = self.text.as_slice()
            && !is_vowel(*before)
        {
            self.replace(1, "i");
        }
    }

    /// Returns the longest ending of a table that the word has, and where it begins.
    fn find(&self, table: &'static [(&str, &str)]) -> Option<(usize, &'static str, &'static str)> {
        let (suffix, with) = table.iter().find(|(suffix, _)| self.ends(suffix))?;
        Some((self.text.len() - suffix.len(), suffix, with))
    }

    /// Step 2.
    fn derived(&mut self) {
        let Some((at, suffix, with)) = self.find(STEP_2) else { return };
        let before = self.text[..at].last().copied().unwrap_or(0);
        let fits = match suffix {
            "ogi" => before == b'l',
            "li" => matches!(before, b'c' | b'd' | b'e' | b'g' | b'h' | b'k' | b'm' | b'n' | b'r' | b't'),
            _ => true,
        };
        if at >= self.first && fits {
            self.replace(suffix.len(), with);
        }
    }

    /// Step 3.
    fn adjective(&mut self) {
        if let Some((at, suffix, with)) = self.find(STEP_3)
            && at >= if suffix == "ative" { self.second.max(self.first) } else { self.first }
        {
            self.replace(suffix.len(), with);
        }
    }

    /// Step 4.
    fn suffix(&mut self) {
        if let Some((at, suffix, _)) = self.find(STEP_4)
            && at >= self.second
            && (suffix != "ion" || matches!(self.text[..at].last(), Some(b's' | b't')))
        {
            self.text.truncate(at);
        }
    }

    /// Step 5.
    fn final_e(&mut self) {
        let at = self.text.len().saturating_sub(1);
        let cut = match self.text.last() {
            Some(b'e') => at >= self.second || (at >= self.first && !self.ends_short(at)),
            Some(b'l') => at >= self.second && self.text[..at].last() == Some(&b'l'),
            _ => false,
        };
        if cut {
            self.text.truncate(at);
        }
    }
}

const fn is_double(byte: u8) -> bool {
    matches!(byte, b'b' | b'd' | b'f' | b'g' | b'm' | b'n' | b'p' | b'r' | b't')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_are_those_of_snowball() {
        // Words and what snowballstemmer 3.1.1 makes of them.
        for line in include_str!("stems.txt").lines() {
            let (word, expected) = line.split_once(' ').unwrap();
            let mut word = word.to_owned();
            stem(&mut word);
            assert_eq!(word, expected, "{line}");
        }
    }

    #[test]
    fn letters_of_other_scripts_stay_whole() {
        for (word, expected) in
            [("cafés", "café"), ("éies", "éie"), ("привет", "привет"), ("ÿs", "ÿs"), ("über", "über")]
        {
            let mut stemmed = word.to_owned();
            stem(&mut stemmed);
            assert_eq!(stemmed, expected);
        }
    }
}
