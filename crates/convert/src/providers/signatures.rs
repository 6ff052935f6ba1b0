//! Signatures of Gemini's tool calls. A model that signs its calls refuses calls without a signature.

use super::alternating::{AlternatingMessage, AlternatingPart, AlternatingPartKind};
use super::sources::SourceItem;
use super::stored::StoredPartKind;

/// The two spellings of a field.
pub type Spellings = [&'static str; 2];

/// The field of the part of a call that has its signature.
pub const SIGNATURE: Spellings = ["thoughtSignature", "thought_signature"];
/// The signature that Google's documentation names for calls which its model did not make.
const UNSIGNED: &str = "skip_thought_signature_validator";

/// Says whether calls are signed, as far as they were seen.
#[derive(Debug, Clone, Copy, Default)]
pub struct Signatures {
    /// Whether a call is signed, so that the model signs its calls.
    is_signed: bool,
    /// Whether a call is without a signature, and whether one is that this provider's model did not make.
    is_unsigned: bool,
    is_unsigned_of_others: bool,
}

impl Signatures {
    /// Tells whether calls that are written should have been signed, as was seen or said later.
    pub const fn are_missing(self, are_required: bool) -> bool {
        are_required && self.is_unsigned || self.is_signed && self.is_unsigned_of_others
    }

    /// Looks for signatures of calls that are about to be written in their provider's format, as some of them may be lost there.
    pub fn look_for(&mut self, sources: &[SourceItem]) {
        let own = sources.iter().filter(|source| source.is_same_format).filter_map(|source| source.stored.as_ref());
        self.is_signed |= own
            .flat_map(|stored| &stored.parts)
            .any(|part| part.kind == StoredPartKind::Reasoning && SIGNATURE.contains(&part.field.as_str()));
    }

    /// Signs the first call of each content that is not as this provider's model made it, where others are signed. Where
    /// signatures are required, calls of the provider's earlier models need one, too.
    pub fn sign(&mut self, list: &mut [AlternatingMessage], are_required: bool) {
        let is_signed = |part: &AlternatingPart| {
            SIGNATURE.iter().any(|name| part.value.get(*name).is_some_and(|value| !value.is_null()))
        };
        for message in list {
            let first = message.parts.iter_mut().find(|part| part.kind == AlternatingPartKind::ToolCall);
            let Some(part) = first.filter(|part| !is_signed(part)) else { continue };
            if !are_required && (part.is_original || !self.is_signed) {
                self.is_unsigned = true;
                self.is_unsigned_of_others |= !part.is_original;
            } else if let Some(map) = part.value.as_object_mut() {
                map.insert(SIGNATURE[0].to_owned(), UNSIGNED.into());
            }
        }
    }
}
