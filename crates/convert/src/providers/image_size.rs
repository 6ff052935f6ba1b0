//! Width and height of images, read from their first bytes: PNG, JPEG, GIF and WebP.

/// Width and height in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageSize {
    /// Pixels from left to right.
    pub width: u32,
    /// Pixels from top to bottom.
    pub height: u32,
}

/// Segments of a JPEG that are looked at: a photograph has about ten before its size.
const SEGMENTS: usize = 256;

/// Returns the size of an image in base64.
pub fn size_of_base64(data: &str) -> Option<ImageSize> {
    let data = data.as_bytes();
    // Four digits are three bytes; only those that are asked for are decoded.
    size(&|at| {
        let group = data.get(at / 3 * 4..at / 3 * 4 + 4)?;
        let bits = group.iter().try_fold(0_u32, |bits, digit| Some(bits << 6 | digit_of(*digit)?))?;
        Some((bits >> (16 - 8 * (at % 3))) as u8)
    })
}

/// Returns the size of an image in bytes.
pub fn size_of_bytes(bytes: &[u8]) -> Option<ImageSize> {
    size(&|at| bytes.get(at).copied())
}

fn digit_of(byte: u8) -> Option<u32> {
    let digit = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        b'=' => 0,
        _ => return None,
    };
    Some(u32::from(digit))
}

type ByteAt<'a> = &'a dyn Fn(usize) -> Option<u8>;

fn size(byte: ByteAt) -> Option<ImageSize> {
    let number = |at: usize, places: [usize; 4]| {
        places.into_iter().try_fold(0_u32, |sum, place| Some(sum << 8 | u32::from(byte(at + place)?)))
    };
    let big = |at: usize| number(at, [0, 1, 2, 3]);
    let big_16 = |at: usize| Some(u32::from(byte(at)?) << 8 | u32::from(byte(at + 1)?));
    let little_16 = |at: usize| Some(u32::from(byte(at + 1)?) << 8 | u32::from(byte(at)?));
    let (width, height) = match (big(0)?, big(8)) {
        (0x8950_4E47, _) => (big(16)?, big(20)?),
        // `GIF8`
        (0x4749_4638, _) => (little_16(6)?, little_16(8)?),
        // `RIFF`, `WEBP`, and one of three forms.
        (0x5249_4646, Some(0x5745_4250)) => match big(12)? {
            0x5650_3820 => (little_16(26)? & 0x3FFF, little_16(28)? & 0x3FFF),
            0x5650_384C => {
                let bits = number(21, [3, 2, 1, 0])?;
                ((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
            }
            0x5650_3858 => ((number(24, [2, 1, 0, 0])? >> 8) + 1, (number(27, [2, 1, 0, 0])? >> 8) + 1),
            _ => return None,
        },
        (first, _) if first >> 8 == 0x00FF_D8FF => jpeg(byte, &big_16)?,
        _ => return None,
    };
    (width > 0 && height > 0).then_some(ImageSize { width, height })
}

/// Goes over the segments of a JPEG to the one with its size.
fn jpeg(byte: ByteAt, big_16: &dyn Fn(usize) -> Option<u32>) -> Option<(u32, u32)> {
    let mut at = 2;
    for _ in 0..SEGMENTS {
        let marker = byte(at + 1).filter(|_| byte(at) == Some(0xFF))?;
        match marker {
            // Fill bytes, and markers without a length.
            0xFF => at += 1,
            0x01 | 0xD0..=0xD8 => at += 2,
            0xC4 | 0xC8 | 0xCC => at += 2 + big_16(at + 2)? as usize,
            0xC0..=0xCF => return Some((big_16(at + 7)?, big_16(at + 5)?)),
            _ => at += 2 + big_16(at + 2)? as usize,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::media_list::base64_of;

    #[test]
    fn sizes_are_read_from_the_first_bytes() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x04\0\0\0\x03\0".to_vec();
        let gif = b"GIF89a\x40\x01\xf0\0".to_vec();
        let jpeg =
            [&b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xc4\0\x03x\xff\xc2\0\x11\x08\x02\xd0\x05\0"[..], &[0; 9]].concat();
        let lossy = [&b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x80\x02\xe0\x01"[..]].concat();
        let lossless = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f\x7f\xc2\x77\0".to_vec();
        let extended = b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0\xff\x03\0\xff\x02\0".to_vec();
        for (bytes, wanted) in [
            (png, Some((1024, 768))),
            (gif, Some((320, 240))),
            (jpeg, Some((1280, 720))),
            (lossy, Some((640, 480))),
            (lossless, Some((640, 480))),
            (extended, Some((1024, 768))),
            (b"%PDF-1.7 and more of it".to_vec(), None),
            (b"\x89PNG\r\n\x1a\n".to_vec(), None),
            (b"\xff\xd8\xff\xe0\xff\xff".to_vec(), None),
            (Vec::new(), None),
        ] {
            let wanted = wanted.map(|(width, height)| ImageSize { width, height });
            assert_eq!(size_of_bytes(&bytes), wanted);
            assert_eq!(size_of_base64(&base64_of(&bytes)), wanted);
        }
        assert_eq!(size_of_base64("\u{20ac}\u{20ac}"), None);
    }
}
