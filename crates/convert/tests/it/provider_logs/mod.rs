//! Random conversations of Anthropic and Gemini that keep the rules, random logs, and the rules.

pub mod anthropic;
pub mod gemini;
pub mod items;
pub mod rules;

use serde_json::{Value, json};

/// Random numbers from a seed.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678)
    }

    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    /// Tells yes once in so many times.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())].clone()
    }

    /// A text that is not blank, with what may go wrong in texts.
    pub fn text(&mut self) -> String {
        let words = [
            "hello",
            "天気 😀",
            "a\nb",
            " x ",
            "\n\ny",
            "[image]",
            "{\"a\": 1}",
            "\"quoted\"",
            "\u{200b}é",
            "1.0",
            "z\n",
        ];
        let count = 1 + self.below(3);
        (0..count).map(|_| self.pick(&words)).collect::<Vec<_>>().join(" ")
    }

    pub fn value(&mut self) -> Value {
        let text = self.text();
        self.pick(&[
            json!(null),
            json!(1),
            json!(1.5),
            json!([]),
            json!({ "__proto__": [text] }),
            json!(true),
            json!("s"),
        ])
    }

    pub fn object(&mut self) -> Value {
        let (text, value) = (self.text(), self.value());
        self.pick(&[
            json!({}),
            json!({ "b": text, "a": value }),
            json!({ "input": value }),
            json!({ "n": 1e21, "ü": [text] }),
        ])
    }

    /// Adds fields nobody knows.
    pub fn extend(&mut self, value: &mut Value, keys: &[&str]) {
        for key in keys {
            if self.once_in(6) {
                value[*key] = self.object();
            }
        }
    }

    /// Turns the order of a list around, sometimes.
    pub fn turn<T>(&mut self, list: &mut [T]) {
        if self.once_in(3) {
            list.reverse();
        }
    }
}

/// Returns the elements of a list; a string is none.
pub fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}
