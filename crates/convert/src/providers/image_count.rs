//! How many images a request has, as providers take only so many of them.

use serde_json::Value;

use super::media::MediaInfo;
use super::{Format, Warnings};

/// Most images of a request, as the provider's documentation says; of messages for any provider the least of those.
const fn most(format: Format) -> usize {
    match format {
        Format::OpenAiChat | Format::OpenAiResponses => 500,
        Format::Anthropic | Format::AiSdkModel | Format::AiSdkUi => 100,
        Format::Gemini => 3_600,
    }
}

/// Counts the images of messages with those before, and warns of more than the provider takes.
pub fn count_images(messages: &[Value], format: Format, before: &mut usize, warnings: &mut Warnings) {
    let own: usize = messages.iter().map(images_in).sum();
    *before += own;
    let most = most(format);
    if own > 0 && *before > most {
        let whose = if matches!(format, Format::AiSdkModel | Format::AiSdkUi) {
            "some providers take"
        } else {
            "the provider takes"
        };
        let message =
            format!("{before} images in a request of which {whose} at most {most}; a smaller budget leaves out more");
        warnings.add("IMAGES_MANY", message, "/messages");
    }
}

fn images_in(value: &Value) -> usize {
    match value {
        Value::Array(list) => list.iter().map(images_in).sum(),
        Value::Object(map) => {
            if MediaInfo::of(map).is_some_and(|info| info.kind == "image") {
                return 1;
            }
            // Arguments of calls are no images, whatever they look like.
            let parts = map.iter().filter(|(key, _)| !matches!(key.as_str(), "input" | "args" | "arguments"));
            parts.map(|(_, value)| images_in(value)).sum()
        }
        _ => 0,
    }
}
