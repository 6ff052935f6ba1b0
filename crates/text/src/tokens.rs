//! Token estimates without a tokenizer download.
//!
//! Every built-in estimator gives each code point a weight in quarter tokens, and a text costs the whole part of the
//! sum over four. Weights add over concatenation, so a prompt's estimate is known exactly from its parts: that is what
//! makes a hard budget possible without rendering twice.
//!
//! `heuristic/v3` rates, quarter tokens per code point:
//!
//! | Script | Weight |
//! |---|---:|
//! | ASCII letters and white space, Latin-1 | 1 |
//! | ASCII digits and punctuation | 2 |
//! | other Latin, Greek, Cyrillic, Armenian, Hebrew, Arabic | 2 |
//! | Indic scripts, Thai, Lao, Georgian, Ethiopic, Khmer, Myanmar, Tibetan | 3 |
//! | Han, kana, Hangul, full-width forms, symbols, everything else | 4 |
//! | emoji (1F000 to 1FAFF) | 8 |
//!
//! `benches/README.md` has the error per class of text against real tokenizers.

use crate::quote::quote;
use contextweaver_base::{Error, ErrorCode, Result};

/// An estimator of tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Estimator {
    /// `heuristic/chardiv4`: code points over four.
    CharDiv4,
    /// `heuristic/v2`: of contextweaver 0.18, in which dense East Asian text counts one token a code point.
    V2,
    /// `heuristic/v3`: the default, with a rate per script.
    V3,
    /// The caller's function under this name; its counts come in from outside.
    Custom(String),
}

impl Estimator {
    /// Finds a built-in estimator by name.
    ///
    /// # Errors
    /// `INVALID_INPUT` for a name that is no built-in estimator.
    ///
    /// ```
    /// use contextweaver_text::Estimator;
    ///
    /// assert_eq!(Estimator::named("heuristic/v3")?, Estimator::V3);
    /// assert!(Estimator::named("gpt").is_err());
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn named(name: &str) -> Result<Self> {
        match name {
            "heuristic/chardiv4" => Ok(Self::CharDiv4),
            "heuristic/v2" => Ok(Self::V2),
            "heuristic/v3" => Ok(Self::V3),
            other => Err(Error::new(ErrorCode::InvalidInput, format!("unknown estimator {}", quote(other)))
                .hint("one of: heuristic/v3 heuristic/v2 heuristic/chardiv4, or a function")),
        }
    }

    /// Returns the name that goes into the stats.
    pub fn name(&self) -> &str {
        match self {
            Self::CharDiv4 => "heuristic/chardiv4",
            Self::V2 => "heuristic/v2",
            Self::V3 => "heuristic/v3",
            Self::Custom(name) => name,
        }
    }

    /// Weighs a text in quarter tokens; a custom estimator is approximated by `heuristic/v3`.
    ///
    /// ```
    /// use contextweaver_text::Estimator;
    ///
    /// // Weights add up, so that a prompt costs what its parts do.
    /// let (one, other) = ("What is the ", "weather in 東京?");
    /// let parts = Estimator::V3.quarters(one) + Estimator::V3.quarters(other);
    /// assert_eq!(Estimator::V3.quarters(&format!("{one}{other}")), parts);
    /// ```
    pub fn quarters(&self, text: &str) -> u64 {
        match self {
            Self::CharDiv4 => text.chars().count() as u64,
            Self::V2 if text.is_ascii() => text.len() as u64,
            Self::V2 => text.chars().map(|ch| if is_wide(ch) { 4 } else { 1 }).sum(),
            Self::V3 | Self::Custom(_) => script_quarters(text),
        }
    }

    /// Tells whether a text costs at most so many tokens; of one that is far too long, without reading it.
    ///
    /// ```
    /// use contextweaver_text::Estimator;
    ///
    /// assert!(Estimator::V3.fits("a short text", 3));
    /// assert!(!Estimator::V3.fits("a short text", 2));
    /// ```
    pub fn fits(&self, text: &str, tokens: u64) -> bool {
        // Four bytes are at least one code point, and four code points at least one token.
        text.len() as u64 / 16 <= tokens && self.tokens(text) <= tokens
    }

    /// Estimates the tokens of a text.
    ///
    /// ```
    /// use contextweaver_text::Estimator;
    ///
    /// assert_eq!(Estimator::V3.tokens("Is it raining in Oslo?"), 5);
    /// // Every character of a dense script is a token.
    /// assert_eq!(Estimator::V3.tokens("東京"), 2);
    /// ```
    pub fn tokens(&self, text: &str) -> u64 {
        self.quarters(text) / 4
    }
}

/// Ranges of code points that count one token each.
const fn is_wide(ch: char) -> bool {
    matches!(ch as u32,
        0x1100..=0x11FF | 0x2600..=0x27BF | 0x3000..=0x9FFF | 0xAC00..=0xD7A3 | 0xF900..=0xFAFF
        | 0xFF00..=0xFFEF | 0x1F000..=0x1FAFF | 0x20000..=0x2FA1F)
}

/// Weights of bytes: those of ASCII in `heuristic/v3`, 0 for parts of other code points.
const WEIGHTS: [u8; 256] = {
    let mut weights = [0; 256];
    let mut byte = 0_u8;
    while byte < 0x80 {
        weights[byte as usize] = script_weight(byte as char) as u8;
        byte += 1;
    }
    weights
};

fn script_quarters(text: &str) -> u64 {
    let ascii: u64 = text.bytes().map(|byte| u64::from(WEIGHTS[usize::from(byte)])).sum();
    if text.is_ascii() {
        return ascii;
    }
    ascii + text.chars().filter(|ch| !ch.is_ascii()).map(script_weight).sum::<u64>()
}

const fn script_weight(ch: char) -> u64 {
    if ch.is_ascii() {
        // Logs, tables and JSON are dense: a tokenizer rarely joins digits or punctuation into runs of four.
        return if ch.is_ascii_digit() || ch.is_ascii_punctuation() { 2 } else { 1 };
    }
    match ch as u32 {
        0x80..=0xFF | 0x2010..=0x2027 | 0x2030..=0x205E => 1,
        0x100..=0x6FF | 0x750..=0x77F | 0x1E00..=0x1FFF | 0x2C60..=0x2C7F | 0xA720..=0xA7FF | 0xFB1D..=0xFDFF => 2,
        0x700..=0x74F | 0x780..=0x10FF | 0x1200..=0x139F | 0x1780..=0x17FF | 0x1950..=0x1AAF => 3,
        0x1F000..=0x1FAFF => 8,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_add_over_concatenation() {
        for estimator in [Estimator::CharDiv4, Estimator::V2, Estimator::V3] {
            let (a, b) = ("hello мир ", "世界 ไทย 😀 naïve");
            let sum = estimator.quarters(a) + estimator.quarters(b);
            assert_eq!(estimator.quarters(&format!("{a}{b}")), sum, "{}", estimator.name());
        }
    }

    #[test]
    fn dense_scripts_cost_more_than_english() {
        let tokens = |text: &str| Estimator::V3.tokens(text);
        assert_eq!(tokens("abcdabcd"), 2);
        assert_eq!(tokens("приветми"), 4);
        assert_eq!(tokens("สวัสดีคร"), 6);
        assert_eq!(tokens("你好世界"), 4);
        assert_eq!(tokens("😀😀"), 4);
        assert_eq!(tokens("12345678"), 4);
        assert_eq!(tokens("{\"a\":[1]}"), 4);
    }
}
