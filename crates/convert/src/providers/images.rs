//! Tokens of images and how many a request may have, as the providers say; where their models differ, by the one that counts
//! most.

use serde_json::Value;

use super::image_size::ImageSize;
use super::media::MediaInfo;
use super::provider::Images;
use super::{Format, Warnings};

/// The size of an image that does not say it.
const USUAL: ImageSize = ImageSize { width: 1024, height: 1024 };

/// How a provider counts an image: squares of so many pixels, at most so many, each so many tenths of a token.
pub struct Squares {
    pub pixels: u32,
    pub most: u64,
    pub tenths: u64,
}

impl Squares {
    pub fn tokens(&self, size: ImageSize) -> u64 {
        let squares = u64::from(size.width.div_ceil(self.pixels)) * u64::from(size.height.div_ceil(self.pixels));
        (squares.min(self.most) * self.tenths).div_ceil(10)
    }
}

/// Returns what images are to those who may get messages of a format: its provider, or any.
fn readers(format: Format) -> impl Iterator<Item = &'static Images> {
    let own = format.provider().images.as_ref();
    let others = Format::ALL.iter().filter_map(|other| other.provider().images.as_ref());
    own.into_iter().chain(others.filter(move |_| own.is_none()))
}

/// Estimates the tokens of an image; one whose size is not known counts as one of 1,024 by 1,024 pixels. Where any provider may
/// get it, the highest estimate holds.
pub fn image_tokens(format: Format, size: Option<ImageSize>) -> u64 {
    let size = size.unwrap_or(USUAL);
    readers(format).map(|images| (images.tokens)(size)).max().unwrap_or(0)
}

/// Counts the images of messages with those before, and warns of more than a provider takes.
pub fn count_images(messages: &[Value], format: Format, before: &mut usize, warnings: &mut Warnings) {
    let own: usize = messages.iter().map(images_in).sum();
    *before += own;
    let most = readers(format).map(|images| images.most).min().unwrap_or(usize::MAX);
    if own > 0 && *before > most {
        let is_for_any = format.provider().images.is_none();
        let whose = if is_for_any { "some providers take" } else { "the provider takes" };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_count_by_their_size() {
        let of = |width, height| Some(ImageSize { width, height });
        for (format, size, tokens) in [
            (Format::OpenAiChat, of(512, 512), 308),
            (Format::OpenAiResponses, of(1920, 1080), 2_448),
            (Format::OpenAiChat, of(4032, 3024), 3_000),
            (Format::OpenAiChat, None, 1_229),
            (Format::Anthropic, of(512, 512), 361),
            (Format::Anthropic, of(1, 1), 1),
            (Format::Anthropic, of(u32::MAX, u32::MAX), 4_784),
            (Format::Anthropic, None, 1_369),
            (Format::Gemini, of(1, 1), 1_120),
            (Format::AiSdkModel, of(1, 1), 1_120),
            (Format::AiSdkUi, of(1920, 1080), 2_691),
        ] {
            assert_eq!(image_tokens(format, size), tokens, "{} {size:?}", format.as_str());
        }
    }
}
