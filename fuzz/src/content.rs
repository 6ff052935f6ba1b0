//! Stored texts: parts of them by selectors.

use contextweaver_content::{
    Selector, SliceIndex, SniffedText, digest_sniffed, reshape_sniffed, slice, slice_indexed, views_sniffed,
};
use contextweaver_model::ArtifactRef;
use contextweaver_text::tokens::Estimator;
use serde_json::Value;

use crate::bytes::Bytes;

const MEDIA_TYPES: [&str; 6] =
    ["text/plain", "application/json", "text/csv", "text/markdown", "application/x-ndjson", "text/html"];

/// Pages that are read of one text.
const MAX_PAGES: usize = 20;

/// A part keeps to its tokens, following `next` ends or moves on, and what was found for the pages before changes nothing.
pub fn slices(data: &[u8]) {
    let mut bytes = Bytes(data);
    let media_type = bytes.one_of(&MEDIA_TYPES);
    let max_tokens = u64::from(bytes.byte()) + 1;
    let Ok(selector) = serde_json::from_str::<Value>(&bytes.line()) else { return };
    let text = bytes.text();
    let Ok(mut selector) = Selector::from_value(selector, "/selector") else { return };
    let mut index = SliceIndex::default();
    for _ in 0..MAX_PAGES {
        let known = slice_indexed(&text, media_type, &selector, Some(max_tokens), &Estimator::V2, &mut index);
        let Ok(part) = slice(&text, media_type, &selector, Some(max_tokens), &Estimator::V2) else {
            assert!(known.is_err());
            return;
        };
        assert_eq!(known.ok().as_ref(), Some(&part));
        let tokens = Estimator::V2.tokens(&part.text);
        assert!(tokens <= max_tokens, "{tokens} of {max_tokens}: {:?}", part.text);
        assert!(part.start <= part.end, "{} to {}", part.start, part.end);
        let Some(next) = part.next else { return };
        let next = Value::Object(next);
        let following = Selector::from_value(next.clone(), "/next");
        let Ok(following) = following else { panic!("what comes next cannot be read: {next}") };
        assert!(following != selector, "what comes next is the same again: {next}");
        selector = following;
    }
}

/// A digest keeps to its tokens and is the same each time; what it and the views point at can be looked at.
pub fn digests(data: &[u8]) {
    let mut bytes = Bytes(data);
    let media_type = bytes.one_of(&MEDIA_TYPES);
    let budget = u64::from(bytes.byte()) + 8;
    let text = bytes.text();
    let source = SniffedText::new(media_type, &text);
    let digest = digest_sniffed(&source, budget, &Estimator::V3);
    let tokens = Estimator::V3.tokens(&digest.text);
    assert!(tokens <= budget, "{tokens} of {budget}: {:?}", digest.text);
    assert_eq!(digest_sniffed(&source, budget, &Estimator::V3), digest);
    if let Some(reshaped) = reshape_sniffed(&source) {
        assert!(Estimator::V3.tokens(&reshaped.text) <= Estimator::V3.tokens(&text), "{:?} of {text:?}", reshaped.text);
    }
    let artifact = ArtifactRef {
        handle: "h".to_owned(),
        media_type: media_type.to_owned(),
        size_bytes: text.len() as u64,
        label: String::new(),
        content_hash: String::new(),
    };
    let views = views_sniffed(&artifact, &source).into_iter().map(|view| view.selector);
    for selector in views.chain(digest.focus.map(|focus| focus.selector)) {
        let shown = Value::Object(selector);
        let selector = Selector::from_value(shown.clone(), "").unwrap_or_else(|error| panic!("{error}: {shown}"));
        let part = slice(&text, media_type, &selector, Some(64), &Estimator::V3);
        assert!(part.is_ok(), "{shown} of {text:?}: {part:?}");
    }
}
