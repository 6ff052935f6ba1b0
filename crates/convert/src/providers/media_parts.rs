//! What each format carries of an image, a sound or a file, and where.

use serde_json::{Value, json};

use super::Format;
use super::media::{Attachment, MediaSource};
use super::message::Role;

/// Where in a conversation media are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MediaPlace {
    /// In a message of this role, which is not [`Role::Tool`].
    Message(Role),
    /// In the result of a tool that did not fail, or where the format has media of results: beside it, or in a message
    /// behind it.
    Result,
    /// In the result of a tool that failed.
    FailedResult,
}

/// Image types that `OpenAI` and Anthropic read.
const IMAGES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp", "image/*"];
/// Types that Gemini reads, those of each side as a whole and single ones.
const GEMINI: &[&str] = &[
    "image/png",
    "image/jpeg",
    "image/webp",
    "image/heic",
    "image/heif",
    "audio/",
    "video/",
    "application/pdf",
    "text/",
];
/// Files that `OpenAI`'s Responses read beside PDF.
const TEXTS: &[&str] = &["text/plain", "text/markdown", "text/csv", "text/html", "application/json"];

const PDF: &str = "application/pdf";

/// Returns media as a part of a format; none where it has no place for them.
pub fn media_part(format: Format, place: MediaPlace, media: &Attachment) -> Option<Value> {
    match (format, place) {
        // The model's own messages take images with Gemini and the AI SDK only; a failed result is text with Anthropic, and
        // content of the AI SDK does not say that it is of one; the output of a part of a user interface is any JSON.
        (_, MediaPlace::Message(Role::System))
        | (Format::OpenAiChat | Format::OpenAiResponses | Format::Anthropic, MediaPlace::Message(Role::Assistant))
        | (Format::Anthropic | Format::AiSdkModel, MediaPlace::FailedResult)
        | (Format::AiSdkUi, MediaPlace::Result | MediaPlace::FailedResult) => None,
        (Format::OpenAiChat, _) => openai_chat(media),
        (Format::OpenAiResponses, _) => openai_responses(media),
        (Format::Anthropic, _) => anthropic(media),
        (Format::Gemini, _) => gemini(media),
        (Format::AiSdkModel, MediaPlace::Message(_)) => ai_sdk_file(media),
        (Format::AiSdkModel, MediaPlace::Result) => ai_sdk_output(media),
        (Format::AiSdkUi, MediaPlace::Message(_)) => {
            let mut part = json!({ "type": "file", "mediaType": full_type(media), "url": media.url()? });
            set_name(&mut part, media.name);
            Some(part)
        }
    }
}

fn set_name(part: &mut Value, name: &str) {
    if !name.is_empty() {
        part["filename"] = name.into();
    }
}

/// Returns the media type where a format wants one.
fn full_type<'a>(media: &'a Attachment) -> &'a str {
    if media.media_type.is_empty() { "application/octet-stream" } else { &media.media_type }
}

/// Returns the name of a file where a format wants one.
fn file_name<'a>(media: &'a Attachment) -> &'a str {
    match (media.name, &*media.media_type) {
        ("", PDF) => "file.pdf",
        ("", _) => "file.txt",
        (name, _) => name,
    }
}

fn is_readable_image(media: &Attachment) -> bool {
    // An address may be any image; of bytes the type is said.
    let is_known = matches!(media.source, MediaSource::Address(_)) || media.media_type != "image/*";
    is_known && IMAGES.contains(&&*media.media_type)
}

fn openai_chat(media: &Attachment) -> Option<Value> {
    let url = media.url()?;
    if is_readable_image(media) {
        return Some(json!({ "type": "image_url", "image_url": { "url": url } }));
    }
    let MediaSource::Bytes(data) = media.source else { return None };
    match &*media.media_type {
        "audio/wav" | "audio/x-wav" => Some(audio(data, "wav")),
        "audio/mpeg" | "audio/mp3" => Some(audio(data, "mp3")),
        PDF => Some(json!({ "type": "file", "file": { "filename": file_name(media), "file_data": url } })),
        _ => None,
    }
}

fn audio(data: &str, format: &str) -> Value {
    json!({ "type": "input_audio", "input_audio": { "data": data, "format": format } })
}

fn openai_responses(media: &Attachment) -> Option<Value> {
    let url = media.url()?;
    if is_readable_image(media) {
        return Some(json!({ "type": "input_image", "image_url": url, "detail": "auto" }));
    }
    let is_file = media.media_type == PDF || TEXTS.contains(&&*media.media_type);
    is_file.then(|| match media.source {
        MediaSource::Address(_) => json!({ "type": "input_file", "file_url": url }),
        _ => json!({ "type": "input_file", "filename": file_name(media), "file_data": url }),
    })
}

fn anthropic(media: &Attachment) -> Option<Value> {
    let is_image = is_readable_image(media);
    if !is_image && media.media_type != PDF {
        return None;
    }
    let source = match media.source {
        MediaSource::Bytes(data) => json!({ "type": "base64", "media_type": media.media_type, "data": data }),
        MediaSource::Address(url) => json!({ "type": "url", "url": url }),
        MediaSource::None => return None,
    };
    let mut part = json!({ "type": if is_image { "image" } else { "document" }, "source": source });
    if !is_image && !media.name.is_empty() {
        part["title"] = media.name.into();
    }
    Some(part)
}

fn gemini(media: &Attachment) -> Option<Value> {
    let fits = |known: &&str| {
        if known.ends_with('/') { media.media_type.starts_with(*known) } else { media.media_type == *known }
    };
    if !GEMINI.iter().any(fits) {
        return None;
    }
    match media.source {
        MediaSource::Bytes(data) => Some(json!({ "inlineData": { "mimeType": media.media_type, "data": data } })),
        MediaSource::Address(url) => Some(json!({ "fileData": { "mimeType": media.media_type, "fileUri": url } })),
        MediaSource::None => None,
    }
}

fn ai_sdk_file(media: &Attachment) -> Option<Value> {
    let data = match media.source {
        MediaSource::Bytes(text) | MediaSource::Address(text) => text,
        MediaSource::None => return None,
    };
    let mut part = json!({ "type": "file", "mediaType": full_type(media), "data": data });
    set_name(&mut part, media.name);
    Some(part)
}

/// Images have types of their own, which the sixth version of the SDK needs.
fn ai_sdk_output(media: &Attachment) -> Option<Value> {
    let kind = if media.is_image() { "image-data" } else { "file-data" };
    let mut part = match media.source {
        MediaSource::Bytes(data) => {
            json!({ "type": kind, "data": data, "mediaType": full_type(media) })
        }
        MediaSource::Address(url) if media.is_image() => json!({ "type": "image-url", "url": url }),
        MediaSource::Address(url) => json!({ "type": "file-url", "url": url, "mediaType": full_type(media) }),
        MediaSource::None => return None,
    };
    if part["type"] == "file-data" {
        set_name(&mut part, media.name);
    }
    Some(part)
}
