//! Taking bytes for what a target needs of them.

/// Bytes that are taken from the front; zeros when none are left.
pub struct Bytes<'a>(pub &'a [u8]);

impl<'a> Bytes<'a> {
    /// Takes one byte.
    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// Takes one of a list that is not empty.
    pub fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        list[usize::from(self.byte()) % list.len()]
    }

    /// Takes what stands before the next line feed, as text.
    pub fn line(&mut self) -> String {
        let end = self.0.iter().position(|&byte| byte == b'\n').unwrap_or(self.0.len());
        let line = String::from_utf8_lossy(&self.0[..end]).into_owned();
        self.0 = self.0.get(end + 1..).unwrap_or_default();
        line
    }

    /// Takes the rest as text.
    pub fn text(self) -> String {
        String::from_utf8_lossy(self.0).into_owned()
    }

    /// Whether none are left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes a text of as many bytes as the next one says.
    pub fn short(&mut self) -> &'a [u8] {
        let length = usize::from(self.byte()).min(self.0.len());
        let (short, rest) = self.0.split_at(length);
        self.0 = rest;
        short
    }
}
