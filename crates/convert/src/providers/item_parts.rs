//! The parts of one item: as they were read, or made of its text and its media.

use serde_json::{Value, json};

use super::media::MediaInfo;
use super::media_list::{base64_of, noted_media, text_beside};
use super::message::{Role, at};
use super::outgoing::{OutgoingPart, PartContent, ToolResultPart, changed_parts, replaced_part, unchanged_parts};
use super::pieces::{Piece, PieceList};
use super::provider::{MediaOfResults, MediaPlace};
use super::sources::SourceItem;
use super::stored::{StoredMessage, StoredPart, StoredPartKind, StoredSlot};
use super::to_messages::MessageBuilder;
use contextweaver_model::ItemKind;
use contextweaver_text::unicode::trim;

/// Fields beside a text or a call that its provider alone understands: what an answer cites, and signatures.
const BESIDE_TEXT: &[&str] = &["citations", "annotations", "thoughtSignature", "thought_signature"];

impl MessageBuilder<'_, '_, '_> {
    /// Returns the parts of an item: as they were read from this format, or made of its text and its media.
    pub(super) fn parts(&mut self, index: usize, content: &PartContent) -> Vec<OutgoingPart> {
        let SourceItem { item, stored, is_same_format, .. } = &self.sources[index];
        if let Some(stored) = stored.as_ref().filter(|_| *is_same_format) {
            if let Some(parts) = unchanged_parts(item, stored, content, index) {
                return parts;
            }
            // Results of the provider's own tools, such as its shell, have a form of their own.
            if let PartContent::ToolResult(result) = content
                && self.provider().rules.has_items
                && result.text == item.text
                && let Some(part) = replaced_part(item, stored, content, index)
            {
                return vec![part];
            }
            let has_media = stored.has_media_of(&item.text);
            if let PartContent::Text(text) = content
                && has_media
                && item.kind == ItemKind::UserTurn
            {
                // What a user says is text and media: one message of both.
                return self.text_with_media(index, text);
            }
            if has_media && !matches!(content, PartContent::ToolResult(_)) {
                let parts = changed_parts(item, stored, true, content, index);
                self.warn_of_lost(index);
                return parts;
            }
        }
        self.warn_of_lost(index);
        if !self.has_media(index) {
            return self.made(index, content);
        }
        match content {
            PartContent::ToolResult(result) => {
                let (text, media) = self.result_content(index);
                self.made(index, &PartContent::ToolResult(ToolResultPart { text, media, ..result.clone() }))
            }
            PartContent::Text(text) => self.text_with_media(index, text),
            _ => self.made(index, content),
        }
    }

    /// Tells whether an item has media, or parts that nobody here knows.
    pub(super) fn has_media(&self, index: usize) -> bool {
        let SourceItem { item, stored, .. } = &self.sources[index];
        stored.as_ref().is_some_and(StoredMessage::has_media) || !noted_media(item).0.is_empty()
    }

    /// Warns of what another format does not understand of an item.
    pub(super) fn warn_of_lost(&mut self, index: usize) {
        let source = &self.sources[index];
        let Some(stored) = source.stored.as_ref().filter(|stored| stored.parts.iter().any(is_lost)) else { return };
        let message = match (source.is_same_format, stored.has_lost_secret()) {
            (false, _) => "what only the provider it came from understands is left out",
            (true, true) => "what only the provider understands is left out, as a secret was taken out of it",
            (true, false) if stored.parts.iter().any(|part| part.kind == StoredPartKind::Opaque && is_lost(part)) => {
                "what only the provider understands is left out, as the text beside it is not what it was"
            }
            (true, false) => return,
        };
        self.warn("OPAQUE_LEFT_OUT", message.to_owned(), index);
    }

    /// Makes the part of an item whose message does not come back as it was.
    pub(super) fn made(&self, index: usize, content: &PartContent) -> Vec<OutgoingPart> {
        let source = &self.sources[index];
        match source.stored.as_ref().filter(|_| source.is_same_format) {
            Some(stored) => changed_parts(source.item, stored, false, content, index),
            None => OutgoingPart::of_text(index, content, None).into_iter().collect(),
        }
    }

    /// Makes the parts of a text with the media that stand in it.
    pub(super) fn text_with_media(&mut self, index: usize, text: &str) -> Vec<OutgoingPart> {
        let role = match self.item(index).kind {
            ItemKind::Policy => Role::System,
            ItemKind::AgentMsg => Role::Assistant,
            _ => Role::User,
        };
        let pieces = self.pieces(index, MediaPlace::Message(role));
        if let [Piece::Text(said)] = &pieces[..] {
            // What is said may have the kind of the item above it, and lines below.
            let lines = said.strip_prefix(self.item(index).text.as_str()).unwrap_or("");
            return self.made(index, &PartContent::Text(format!("{text}{lines}")));
        }
        let (field, kind) = self.provider().parts;
        let values = pieces.into_iter().filter_map(|piece| match piece {
            Piece::Media(value) => Some(value),
            Piece::Text(text) if trim(&text).is_empty() => None,
            Piece::Text(text) => Some(match kind {
                Some(kind) => json!({ "type": kind, "text": text }),
                None => json!({ "text": text }),
            }),
        });
        let mut parts: Vec<OutgoingPart> = values.map(|value| OutgoingPart::opaque(field, value, index)).collect();
        if let Some(first) = parts.first_mut().filter(|_| self.provider().rules.has_items) {
            first.message_fields = Some(json!({ "type": "message", "role": role.as_str(), "content": [] }));
        }
        parts
    }

    /// Returns the text of a result, and its media as parts of the format.
    pub(super) fn result_content(&mut self, index: usize) -> (String, Vec<Value>) {
        let is_error = self.item(index).metadata_flag("is_error");
        let place = if is_error { MediaPlace::FailedResult } else { MediaPlace::Result };
        let (mut texts, mut media) = (Vec::new(), Vec::new());
        for piece in self.pieces(index, place) {
            match piece {
                Piece::Text(text) => texts.push(text),
                Piece::Media(value) => media.push(value),
            }
        }
        (texts.join("\n"), media)
    }

    /// Takes the text of an item apart at its media. Those that the format has no place for are a line, with a warning.
    fn pieces(&mut self, index: usize, place: MediaPlace) -> Vec<Piece> {
        let (format, bytes, provider) = (self.format, self.bytes, self.provider());
        let media_part = provider.media;
        let SourceItem { item, stored, is_same_format, .. } = &self.sources[index];
        let (noted, is_noted) = noted_media(item);
        let is_result = !matches!(place, MediaPlace::Message(_));
        let is_closed = is_result && provider.media_of_results == MediaOfResults::Behind && self.has_open_calls;
        // Where they stand outside of the result, a line in it says that there are some.
        let stand_apart = is_result && provider.media_of_results != MediaOfResults::Inside;
        let mut out = PieceList { pieces: Vec::new(), lost: Vec::new(), text: &item.text, stand_apart };
        let mut is_changed = false;
        match stored.as_ref().filter(|stored| stored.is_usable(item)) {
            Some(stored) if stored.has_media_of(&item.text) => {
                for (text, value) in stored.pieces(&item.text) {
                    let Some(value) = value else {
                        out.say(&text);
                        continue;
                    };
                    // A picture of a result has another form in a message.
                    let part = if *is_same_format && (is_result || item.kind != ItemKind::ToolResult) {
                        Some(value.clone())
                    } else {
                        let info = value.as_object().and_then(MediaInfo::of);
                        info.and_then(|info| media_part(place, &info.media()))
                    };
                    out.add(part.filter(|_| !is_closed), &text);
                }
            }
            Some(stored) => {
                is_changed = stored.has_media();
                out.say(&item.text);
            }
            None if stand_apart => {
                is_changed = stored.as_ref().is_some_and(StoredMessage::has_media);
                out.say(&item.text);
            }
            None => match text_beside(&item.text, &noted) {
                "" => {}
                text => out.say(text),
            },
        }
        if is_noted {
            for record in &noted {
                let data = bytes(&record.handle).filter(|_| !is_closed).map(base64_of);
                let part = data.and_then(|data| media_part(place, &record.info(&data).media()));
                out.add(part, &record.label());
            }
        } else {
            is_changed = is_changed || !noted.is_empty();
        }
        let PieceList { pieces, lost, .. } = out;
        if is_changed {
            let message = "images and the like are left out of what is shown otherwise than as it was";
            self.warnings.add("MEDIA_LEFT_OUT", message, at("/items", index));
        }
        for label in lost {
            let message = format!("{} has no place there for {label}; this line stands for it", format.as_str());
            self.warnings.add("MEDIA_LEFT_OUT", message, at("/items", index));
        }
        pieces
    }
}

/// Tells whether a stored part means nothing to other formats.
fn is_lost(part: &StoredPart) -> bool {
    let is_media = |slot: &StoredSlot| part.media_of(slot).and_then(Value::as_object).and_then(MediaInfo::of).is_some();
    match part.kind {
        StoredPartKind::Reasoning => true,
        StoredPartKind::Opaque => !part.slots.iter().any(is_media),
        StoredPartKind::ServerResult => part.slots.iter().all(|slot| slot.pointer.is_none()),
        StoredPartKind::ToolResult => part.slots.iter().any(|slot| slot.media.is_some() && !is_media(slot)),
        StoredPartKind::Text | StoredPartKind::ToolCall => {
            BESIDE_TEXT.iter().any(|key| part.original.get(*key).is_some_and(|value| !is_empty(value)))
        }
        _ => false,
    }
}

fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_array().is_some_and(Vec::is_empty)
}
