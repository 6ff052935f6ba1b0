//! The single pass that looks for every secret shape.

use super::chars::tick;

/// Rule bit of private key blocks.
pub(super) const PEM: u32 = 1;
/// Rule bits of the tokens with a known prefix.
pub(super) const TOKENS: u32 = 0x8ffe;
/// Rule bit of passwords inside URLs.
pub(super) const URL: u32 = 1 << 12;
/// Rule bit of authorization schemes followed by credentials.
pub(super) const AUTH: u32 = 1 << 13;
/// Rule bit of credentials assigned to a telling key.
pub(super) const ASSIGN: u32 = 1 << 14;
/// Bits of all rules.
pub(super) const ALL: u32 = 0xffff;
/// Bits of the rules that contextweaver 0.18 has.
const COMPAT: u32 = 0x7fff;

/// Rules that each byte can reveal.
const TRIGGERS: [u32; 256] = triggers();

const fn triggers() -> [u32; 256] {
    let mut table = [0; 256];
    table[b'A' as usize] = TOKENS;
    table[b'J' as usize] = TOKENS;
    table[b'_' as usize] = TOKENS;
    table[b'.' as usize] = TOKENS;
    table[b'-' as usize] = TOKENS | PEM;
    table[b':' as usize] = URL | ASSIGN;
    table[b'=' as usize] = ASSIGN;
    table[b'b' as usize] = AUTH;
    table[b'B' as usize] = AUTH;
    table
}

/// A span to be masked.
#[derive(Clone, Copy, Debug)]
pub(super) struct SecretSpan {
    /// Bit of the rule that matched.
    pub(super) rule: u32,
    /// Offset of the byte that revealed the secret.
    pub(super) trigger: usize,
    /// First byte of the secret.
    pub(super) start: usize,
    /// End of the secret.
    pub(super) end: usize,
}

/// Looks for secrets and remembers what earlier failures have ruled out.
///
/// Those notes keep the running time linear, because a search that failed once is not repeated
/// from a later start.
pub(super) struct Scanner<'a> {
    pub(super) text: &'a str,
    pub(super) full: bool,
    /// Mask that may already be present.
    pub(super) mask: &'a str,
    /// No JSON Web Token has its first part end at or before this offset.
    pub(super) jwt_dead: usize,
    /// Before this offset, bodies of these characters are hyphenated words.
    pub(super) kebab_dead: (usize, u8),
    /// Offset of the last search for an END marker and what it found.
    pub(super) pem_end: Option<(usize, Option<(usize, usize)>)>,
    /// For each kind of quote, the offset before which an opening quote stays unclosed.
    pub(super) unclosed: [usize; 9],
}

impl<'a> Scanner<'a> {
    /// Creates a scanner for one text.
    pub(super) fn new(text: &'a str, full: bool, mask: &'a str) -> Self {
        Self { text, full, mask, jwt_dead: 0, kebab_dead: (0, 0), pem_end: None, unclosed: [0; 9] }
    }

    /// Finds the next secret revealed at or after `from`.
    ///
    /// Nothing before `floor` is part of a match, though it may decide whether a word starts
    /// there.
    pub(super) fn next(&mut self, from: usize, floor: usize, active: u32) -> Option<SecretSpan> {
        let active = active & if self.full { ALL } else { COMPAT };
        let bytes = self.text.as_bytes().get(from..)?;
        for (offset, &byte) in bytes.iter().enumerate() {
            let rules = TRIGGERS[usize::from(byte)] & active;
            if rules != 0
                && let Some(hit) = self.at(from + offset, floor, rules)
            {
                tick(offset);
                return Some(hit);
            }
        }
        tick(bytes.len());
        None
    }

    /// Tries the rules that one byte can reveal.
    fn at(&mut self, trigger: usize, floor: usize, rules: u32) -> Option<SecretSpan> {
        let hit = |rule, (start, end)| SecretSpan { rule, trigger, start, end };
        if rules & PEM != 0
            && let Some(span) = self.pem_at(trigger)
        {
            return Some(hit(PEM, span));
        }
        if rules & TOKENS != 0
            && let Some((rule, start, end)) = self.token_at(trigger, floor, rules)
        {
            return Some(hit(1 << rule, (start, end)));
        }
        if rules & URL != 0
            && let Some(span) = self.url_at(trigger, floor)
        {
            return Some(hit(URL, span));
        }
        if rules & AUTH != 0
            && let Some(span) = self.auth_at(trigger)
        {
            return Some(hit(AUTH, span));
        }
        if rules & ASSIGN != 0 {
            let span = if self.full { self.assign_full(trigger, floor) } else { self.assign_reference(trigger, floor) };
            return span.map(|span| hit(ASSIGN, span));
        }
        None
    }

    /// Reports whether a span is an earlier mask, which must not count as a secret again.
    pub(super) fn is_mask(&self, start: usize, end: usize) -> bool {
        let span = super::chars::part(self.text, start, end);
        self.full && (span == self.mask || span == super::SECRET_MASK)
    }
}
