//! What an item says, taken apart at its media.

use serde_json::Value;

/// A piece of what an item says.
pub enum Piece {
    Text(String),
    /// Media, as a part of the format.
    Media(Value),
}

/// Collects the pieces of an item.
pub struct PieceList<'a> {
    pub pieces: Vec<Piece>,
    /// Labels of media that are not among them.
    pub lost: Vec<String>,
    /// The text of the item, which may have labels.
    pub text: &'a str,
    /// Whether media stand elsewhere than their text.
    pub stand_apart: bool,
}

impl PieceList<'_> {
    /// Adds text; texts in a row are lines of one.
    pub fn say(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Text(before)) => {
                before.push('\n');
                before.push_str(text);
            }
            _ => self.pieces.push(Piece::Text(text.to_owned())),
        }
    }

    /// Adds media, with a line where they stand elsewhere or cannot be shown, unless the text has it.
    pub fn add(&mut self, part: Option<Value>, label: &str) {
        let is_said = self.texts().any(|text| text.len() >= self.text.len() && text.contains(label));
        if (part.is_none() || self.stand_apart) && !is_said {
            self.say(label);
        }
        match part {
            Some(part) => self.pieces.push(Piece::Media(part)),
            None => self.lost.push(label.to_owned()),
        }
    }

    fn texts(&self) -> impl Iterator<Item = &String> {
        self.pieces.iter().filter_map(|piece| if let Piece::Text(text) = piece { Some(text) } else { None })
    }
}
