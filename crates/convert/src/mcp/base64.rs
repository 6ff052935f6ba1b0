//! Base64 in the forms that servers send: for URLs, without padding, with white space, as a data URI.

use std::borrow::Cow;

use base64::alphabet;
use base64::engine::{DecodePaddingMode, Engine as _, GeneralPurpose, GeneralPurposeConfig};

/// Padding may be left out, and bits behind the last byte may be anything.
const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_allow_trailing_bits(true)
    .with_decode_padding_mode(DecodePaddingMode::Indifferent);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// Bytes of a base64 text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodedBase64 {
    /// The decoded bytes.
    pub bytes: Vec<u8>,
    /// What the text was beside plain base64: a data URI, or base64 with white space, for URLs, or without padding.
    pub form: Option<&'static str>,
    /// The media type that a data URI names.
    pub media_type: Option<String>,
}

/// Why a text was not decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base64Error {
    /// The text is no base64.
    Invalid,
    /// The text holds this many bytes, more than the limit.
    TooLarge(usize),
}

/// Decodes a text into at most `limit` bytes.
///
/// The alphabet is that of RFC 4648 or its form for URLs, but no mixture. White space between the characters and absent
/// padding do no harm. Of a data URI the part behind the comma is decoded, once: what comes out is bytes, whatever they
/// look like.
pub fn decode(text: &str, limit: usize) -> Result<DecodedBase64, Base64Error> {
    let (media_type, payload) = match data_uri(text)? {
        Some((media_type, payload)) => (Some(media_type), payload),
        None => (None, text),
    };
    let (mut spaces, mut url, mut plain, mut padding) = (0, false, false, 0);
    for byte in payload.bytes() {
        match byte {
            b' ' | b'\t'..=b'\r' => spaces += 1,
            b'-' | b'_' => url = true,
            b'+' | b'/' => plain = true,
            b'=' => padding += 1,
            _ => {}
        }
    }
    if url && plain {
        return Err(Base64Error::Invalid);
    }
    let digits = payload.len() - spaces - padding;
    let size = digits / 4 * 3 + digits % 4 * 3 / 4;
    if size > limit {
        return Err(Base64Error::TooLarge(size));
    }
    let mut digits_only = Cow::Borrowed(payload.as_bytes());
    if spaces > 0 {
        digits_only.to_mut().retain(|byte| !matches!(byte, b' ' | b'\t'..=b'\r'));
    }
    let engine = if url { URL_SAFE } else { STANDARD };
    let bytes = engine.decode(digits_only).map_err(|_| Base64Error::Invalid)?;
    let forms = [
        (media_type.is_some(), "a data URI"),
        (spaces > 0, "base64 with white space"),
        (url, "base64 for URLs"),
        (padding == 0 && digits % 4 > 0, "base64 without padding"),
    ];
    let form = forms.into_iter().find(|(is, _)| *is).map(|(_, name)| name);
    Ok(DecodedBase64 { bytes, form, media_type: media_type.filter(|name| !name.is_empty()).map(str::to_owned) })
}

/// Writes bytes with the standard alphabet and padding.
pub fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Takes a data URI apart; one that is not base64 cannot be read.
fn data_uri(text: &str) -> Result<Option<(&str, &str)>, Base64Error> {
    let text = text.trim_start();
    if !text.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:")) {
        return Ok(None);
    }
    let (header, payload) = text[5..].split_once(',').ok_or(Base64Error::Invalid)?;
    let (media_type, encoding) = header.rsplit_once(';').ok_or(Base64Error::Invalid)?;
    if encoding.trim().eq_ignore_ascii_case("base64") {
        Ok(Some((media_type, payload)))
    } else {
        Err(Base64Error::Invalid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_decoded_and_named() {
        let table: &[(&str, Option<&str>, Option<&str>)] = &[
            ("aGVsbG8/Pz8+", None, None),
            ("aGVsbG8_Pz8-", Some("base64 for URLs"), None),
            ("aGVs\nbG8/\r\n Pz8+\t", Some("base64 with white space"), None),
            ("data:image/png;base64,aGVsbG8/Pz8+", Some("a data URI"), Some("image/png")),
            ("DATA:;BASE64,aGVsbG8/Pz8+", Some("a data URI"), None),
            (
                "\ndata:text/plain;charset=utf-8;base64,aGVs bG8/Pz8+",
                Some("a data URI"),
                Some("text/plain;charset=utf-8"),
            ),
        ];
        for (text, form, media_type) in table {
            let decoded = decode(text, 9).unwrap();
            assert_eq!((&*decoded.bytes, decoded.form), (&b"hello???>"[..], *form), "{text}");
            assert_eq!(decoded.media_type.as_deref(), *media_type, "{text}");
        }
        assert_eq!(decode("aGVsbG8", 5).unwrap().form, Some("base64 without padding"));
        assert_eq!(decode("aGVsbG9=", 5).unwrap().bytes, b"hello");
        assert_eq!(decode("", 0), Ok(DecodedBase64 { bytes: Vec::new(), form: None, media_type: None }));
    }

    #[test]
    fn what_is_no_base64_is_refused() {
        for text in [
            "====",
            "a",
            "aGVsbG8==",
            "aGU=bG8=",
            "+_aa",
            "é日本",
            "aGVs!G8=",
            "data:,hello",
            "data:text/plain,aGVs",
            "data:;base64",
            "data:;base64,data:;base64,aGVs",
            "aGVs\u{a0}bG8=",
            "javascript:alert(1)",
        ] {
            assert_eq!(decode(text, 100), Err(Base64Error::Invalid), "{text}");
        }
    }

    #[test]
    fn sizes_are_known_before_anything_is_decoded() {
        for (text, size) in [("aGVsbG8=", 5), ("aGVsbG8", 5), ("aGVs bG8/ Pz8+", 9), ("data:;base64,aGVs", 3)] {
            assert_eq!(decode(text, size - 1), Err(Base64Error::TooLarge(size)), "{text}");
            assert_eq!(decode(text, size).unwrap().bytes.len(), size, "{text}");
        }
        // Nothing of this is base64, but nobody has to read it to see that it is too much.
        assert_eq!(decode(&"!".repeat(4000), 100), Err(Base64Error::TooLarge(3000)));
    }
}
