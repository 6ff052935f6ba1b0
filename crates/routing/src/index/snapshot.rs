//! An index as bytes, so that a program that starts need not build it again.
//!
//! The bytes say what is in the index and not how it came to be: tools by id, words by text, pairs by their words. They
//! end with a hash of themselves, and hold one of every tool, which is compared with the tools at hand: what is damaged
//! or stale is refused. The hashes are no signature; everything is checked that a ranking relies on.

use super::collapse::VariantSignature;
use super::fields::{FIELDS, fingerprint};
use super::postings::{PostingLists, TermPosting};
use super::{IndexOptions, IndexedTool, NONE, ToolIndex};
use contextweaver_base::limits;
use contextweaver_base::order::sort_by;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::SelectableItem;
use contextweaver_text::hash::Hash;
use contextweaver_text::numbered::Term;

/// What the bytes begin with; the last one changes with the layout and with the reading of texts.
const MAGIC: &[u8; 5] = b"CWIX\x01";
/// Bytes of the hash at the end.
const HASH: usize = 16;
/// Fewest bytes of a tool: two empty texts, a hash of words, its version words, another hash, the lengths of its fields.
const LEAST_ITEM: usize = 2 + HASH + 2 + HASH + FIELDS;

/// Fewest bytes of a term: a text of one letter or two numbers, and one entry with their number.
const LEAST_TERM: usize = 2 + 1 + LEAST_ENTRY;
/// Bytes of an entry at least.
const LEAST_ENTRY: usize = 3;

impl ToolIndex {
    /// Returns the index as bytes: the same for the same tools, in whatever order they came and went. The caller's
    /// vectors are not among them.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = SnapshotWriter(MAGIC.to_vec());
        let mut places: Vec<u32> = (0..self.items.len() as u32).filter(|place| self.is_there(*place)).collect();
        sort_by(&mut places, |a, b| self.id(*a).cmp(self.id(*b)));
        let mut ranks = vec![0; self.items.len()];
        out.number(places.len() as u32);
        for (rank, place) in places.iter().enumerate() {
            ranks[*place as usize] = rank as u32;
            let item = &self.items[*place as usize];
            out.text(self.id(*place));
            out.text(&item.name);
            out.hash(item.kinship.hash().state());
            out.number(item.kinship.versions);
            out.text(&item.kinship.named);
            out.hash(item.fingerprint);
            for length in self.lengths[*place as usize] {
                out.number(length);
            }
        }
        self.write_terms(&mut out, &ranks);
        let mut hash = Hash::default();
        hash.bytes(&out.0);
        out.hash(hash.value());
        out.0
    }

    fn write_terms(&self, out: &mut SnapshotWriter, ranks: &[u32]) {
        let occurring = (0..self.terms.len() as u32).filter(|term| self.frequency(*term) > 0);
        let (mut words, mut pairs): (Vec<u32>, Vec<u32>) = occurring.partition(|term| self.terms.word(*term).is_some());
        sort_by(&mut words, |a, b| self.terms.word(*a).cmp(&self.terms.word(*b)));
        let mut numbers = vec![0; self.terms.len()];
        out.number(words.len() as u32);
        for (number, word) in words.iter().enumerate() {
            numbers[*word as usize] = number as u32;
            out.text(self.terms.word(*word).unwrap_or_default());
        }
        let halves = |pair: u32| match self.terms.term(pair) {
            Term::Pair(first, second) => (numbers[first as usize], numbers[second as usize]),
            Term::Word(_) => (0, 0),
        };
        sort_by(&mut pairs, |a, b| halves(*a).cmp(&halves(*b)));
        out.number(pairs.len() as u32);
        let mut before = 0;
        for pair in &pairs {
            let (first, second) = halves(*pair);
            out.number(first - before);
            out.number(second);
            before = first;
        }
        for term in words.into_iter().chain(pairs) {
            let mut entries: Vec<TermPosting> =
                self.postings.entries(term).filter(|entry| self.is_there(entry.item)).collect();
            for entry in &mut entries {
                entry.item = ranks[entry.item as usize];
            }
            // Stable, so that the fields of a tool stay in order.
            sort_by(&mut entries, |a, b| a.item.cmp(&b.item));
            out.number(entries.len() as u32);
            let mut before = 0;
            for entry in entries {
                out.number(entry.item - before);
                out.number(entry.count() - 1);
                out.0.push(entry.field() as u8);
                before = entry.item;
            }
        }
    }

    /// Reads an index of these tools.
    ///
    /// # Errors
    ///
    /// Fails with `DECODE_FAILED` when the bytes are damaged, and with `SNAPSHOT_VERSION` when they are of another
    /// version or of other tools; build the index then.
    pub fn from_bytes<'a>(
        bytes: &[u8],
        items: impl IntoIterator<Item = &'a SelectableItem>,
        options: IndexOptions,
    ) -> Result<Self> {
        let mut input = SnapshotReader(open(bytes)?);
        let mut index = Self::new(options);
        index.read_items(&mut input)?;
        index.read_terms(&mut input)?;
        if !input.0.is_empty() {
            return Err(damaged());
        }
        let mut seen = vec![false; index.items.len()];
        for item in items {
            let place = index.place(&item.id).filter(|place| !seen[*place as usize]);
            match place.filter(|place| index.items[*place as usize].fingerprint == fingerprint(item)) {
                Some(place) => {
                    seen[place as usize] = true;
                    index.join_family(place, &item.namespace);
                }
                None => return Err(stale("the snapshot of the index is of other tools")),
            }
        }
        if seen.contains(&false) {
            return Err(stale("the snapshot of the index has tools that are no more"));
        }
        Ok(index)
    }

    fn read_items(&mut self, input: &mut SnapshotReader) -> Result<()> {
        for _ in 0..input.count(LEAST_ITEM)? {
            let id = input.text()?;
            if self.items.last().is_some_and(|last| self.ids.word(last.id).is_some_and(|before| before >= id)) {
                return Err(damaged());
            }
            let name = input.text()?;
            let hash = Hash::from_state(input.hash()?);
            let kinship = VariantSignature::from_parts(hash, input.number()?, input.text()?.into());
            let fingerprint = input.hash()?;
            let mut lengths = [0; FIELDS];
            for (length, total) in lengths.iter_mut().zip(&mut self.totals) {
                *length = input.number()?;
                *total = (total.0 + u64::from(*length), total.1 + u32::from(*length > 0));
            }
            self.insert(
                id,
                lengths,
                IndexedTool { id: 0, name: name.into(), kinship, family: NONE, fingerprint, vector: Box::default() },
            );
        }
        Ok(())
    }

    fn read_terms(&mut self, input: &mut SnapshotReader) -> Result<()> {
        let words = input.count(LEAST_TERM)?;
        self.terms.reserve(words);
        for number in 0..words as u32 {
            let word = input.text()?;
            if number > 0 && self.terms.word(number - 1).is_some_and(|before| before >= word) {
                return Err(damaged());
            }
            self.terms.intern(Term::Word(word));
        }
        let (pairs, mut first, mut before) = (input.count(LEAST_TERM)?, 0_u32, None);
        self.terms.reserve(pairs);
        for _ in 0..pairs {
            first = first.checked_add(input.number()?).ok_or_else(damaged)?;
            let second = input.number()?;
            if first as usize >= words || second as usize >= words || before >= Some((first, second)) {
                return Err(damaged());
            }
            before = Some((first, second));
            self.terms.intern(Term::Pair(first, second));
        }
        self.read_postings(input, words)
    }

    /// Reads the entries; those of the words must add up to the lengths of the fields.
    fn read_postings(&mut self, input: &mut SnapshotReader, words: usize) -> Result<()> {
        let mut packed: Vec<TermPosting> = Vec::with_capacity(input.0.len() / LEAST_ENTRY);
        let mut starts = Vec::with_capacity(self.terms.len() + 1);
        let mut missing: Vec<[u32; FIELDS]> = self.lengths.clone();
        starts.push(0);
        for term in 0..self.terms.len() {
            let (mut item, mut last, mut tools) = (0_u32, None, 0);
            let count = input.count(LEAST_ENTRY)?;
            for _ in 0..count {
                item = item.checked_add(input.number()?).ok_or_else(damaged)?;
                let count = input.number()?.checked_add(1).ok_or_else(damaged)?;
                let field = usize::from(input.take(1)?[0]);
                if item as usize >= self.items.len() || field >= FIELDS || last >= Some((item, field)) {
                    return Err(damaged());
                }
                tools += u32::from(last.is_none_or(|(before, _)| before != item));
                last = Some((item, field));
                if term < words {
                    let left = &mut missing[item as usize][field];
                    *left = left.checked_sub(count).ok_or_else(damaged)?;
                }
                packed.push(TermPosting::new(item, field, count));
            }
            if count == 0 {
                return Err(damaged());
            }
            self.frequencies.push(tools);
            starts.push(packed.len() as u32);
        }
        if missing.iter().flatten().any(|left| *left > 0) {
            return Err(damaged());
        }
        self.work += packed.len() as u64;
        self.postings = PostingLists::from_packed(starts, packed);
        Ok(())
    }
}

/// Returns what is between the beginning and the hash, when both are right.
fn open(bytes: &[u8]) -> Result<&[u8]> {
    if bytes.len() > limits::MAX_SNAPSHOT_BYTES {
        let message = format!("snapshot has {} bytes, the limit is {}", bytes.len(), limits::MAX_SNAPSHOT_BYTES);
        return Err(Error::new(ErrorCode::TooLarge, message));
    }
    if bytes.len() < MAGIC.len() + HASH || bytes[..4] != MAGIC[..4] {
        return Err(damaged());
    }
    if bytes[4] != MAGIC[4] {
        return Err(stale(&format!("the snapshot of the index has version {}, not {}", bytes[4], MAGIC[4])));
    }
    let (body, expected) = bytes.split_at(bytes.len() - HASH);
    let mut hash = Hash::default();
    hash.bytes(body);
    if SnapshotReader(expected).hash()? == hash.value() { Ok(&body[MAGIC.len()..]) } else { Err(damaged()) }
}

fn damaged() -> Error {
    Error::new(ErrorCode::DecodeFailed, "the snapshot of the index is damaged").hint("build the index again")
}

fn stale(message: &str) -> Error {
    Error::new(ErrorCode::SnapshotVersion, message).hint("build the index again")
}

struct SnapshotWriter(Vec<u8>);

impl SnapshotWriter {
    /// Writes seven bits a byte, the low ones first.
    fn number(&mut self, mut number: u32) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u32);
        self.0.extend_from_slice(text.as_bytes());
    }

    fn hash(&mut self, hash: [u64; 2]) {
        for half in hash {
            self.0.extend_from_slice(&half.to_le_bytes());
        }
    }
}

struct SnapshotReader<'a>(&'a [u8]);

impl<'a> SnapshotReader<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or_else(damaged)?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u32> {
        let mut number = 0_u64;
        for shift in 0..5 {
            let byte = self.take(1)?[0];
            number |= u64::from(byte & 0x7F) << (7 * shift);
            if byte < 0x80 {
                return u32::try_from(number).map_err(|_| damaged());
            }
        }
        Err(damaged())
    }

    /// Reads how many things follow that have at least `least` bytes each, so that no number asks for more memory than
    /// a few times the input.
    fn count(&mut self, least: usize) -> Result<usize> {
        let count = self.number()? as usize;
        if count > self.0.len() / least { Err(damaged()) } else { Ok(count) }
    }

    fn text(&mut self) -> Result<&'a str> {
        let len = self.number()? as usize;
        std::str::from_utf8(self.take(len)?).map_err(|_| damaged())
    }

    fn hash(&mut self) -> Result<[u64; 2]> {
        let (words, _) = self.take(HASH)?.as_chunks::<8>();
        Ok([u64::from_le_bytes(words[0]), u64::from_le_bytes(words[1])])
    }
}
