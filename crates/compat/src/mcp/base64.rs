//! Bytes out of base64 in its strictest form.

use base64::alphabet;
use base64::engine::{Engine as _, GeneralPurpose, GeneralPurposeConfig};

/// Decodes base64 as 0.18 does: the standard alphabet with its padding and nothing else, but any number of
/// `=` behind groups that are complete.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    const STRICT: GeneralPurposeConfig = GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true);
    let digits = text.trim_end_matches('=');
    let is_complete = digits.len().is_multiple_of(4) && !digits.is_empty();
    GeneralPurpose::new(&alphabet::STANDARD, STRICT).decode(if is_complete { digits } else { text }).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_exactly_the_standard_is_decoded() {
        let decoded = decode;
        for text in ["QQ==", "QR==", "QUJD", "QUJD=", "QUJD====", "aGVsbG9=", ""] {
            assert!(decoded(text).is_some(), "{text}");
        }
        for text in ["QQ", "QQ=", "Q===", "=", "====", "QQ==QQ==", "QUI==", "aGVs\n", "-_-_", "QU=D", "QUJD=QUJD"] {
            assert!(decoded(text).is_none(), "{text}");
        }
    }
}
