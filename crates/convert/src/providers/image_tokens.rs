//! Tokens of images, as the providers say they count them; where their models differ, by the one that counts most.

use super::Format;
use super::image_size::ImageSize;

/// The size of an image that does not say it.
const USUAL: ImageSize = ImageSize { width: 1024, height: 1024 };

/// How a provider counts an image: squares of so many pixels, at most so many, each so many tenths of a token.
struct Squares {
    pixels: u32,
    most: u64,
    tenths: u64,
}

/// Squares of 32 pixels, at most 2,500 at high detail, 1.2 tokens each.
const OPENAI: Squares = Squares { pixels: 32, most: 2_500, tenths: 12 };
/// Squares of 28 pixels; larger images are scaled down to 4,784 of them.
const ANTHROPIC: Squares = Squares { pixels: 28, most: 4_784, tenths: 10 };
/// An image at high resolution, whatever its size.
const GEMINI: u64 = 1_120;

impl Squares {
    fn tokens(&self, size: ImageSize) -> u64 {
        let squares = u64::from(size.width.div_ceil(self.pixels)) * u64::from(size.height.div_ceil(self.pixels));
        (squares.min(self.most) * self.tenths).div_ceil(10)
    }
}

/// Estimates the tokens of an image; one whose size is not known counts as one of 1,024 by 1,024 pixels. The AI SDK sends it
/// to any provider, so the highest estimate holds.
pub fn image_tokens(format: Format, size: Option<ImageSize>) -> u64 {
    let size = size.unwrap_or(USUAL);
    match format {
        Format::OpenAiChat | Format::OpenAiResponses => OPENAI.tokens(size),
        Format::Anthropic => ANTHROPIC.tokens(size),
        Format::Gemini => GEMINI,
        Format::AiSdkUi | Format::AiSdkModel => OPENAI.tokens(size).max(ANTHROPIC.tokens(size)).max(GEMINI),
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
