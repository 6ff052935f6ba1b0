//! An inverted index over the fields of tools: the default engine.
//!
//! Every tool that shares a term with the query is scored (BM25F over stems and pairs of neighbouring stems); a lexicon
//! widens the query; near-duplicates share one place. Tools are added and removed one by one, and the index ranks as if
//! it had been made of what is in it now: nothing is stored that depends on other tools but sums of whole numbers.

mod analyse;
mod collapse;
mod explain;
mod fields;
mod file_tools;
mod files;
mod fit;
mod follow_up;
mod lexicon;
mod postings;
mod query;
mod rank;
mod snapshot;
mod stem;
mod tool_reader;
mod weights;
mod wishes;

use contextweaver_base::order::sort_by;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::SelectableItem;
use contextweaver_text::numbered::{Term, Terms};
use contextweaver_text::quote::quote;

use analyse::StopWords;
use collapse::VariantSignature;
use fields::FIELDS;
use postings::{PostingLists, TermPosting};
use query::FuzzyVocabulary;
use rank::RankScratch;
use tool_reader::{ToolReader, WordCache};

pub use explain::{MatchedField, MatchedTerm, RouteMatch, TermOrigin};
pub use fit::{FIRST_TOOLS, QueryFit};
pub use follow_up::{FollowUp, QUESTION_MARKS};
pub use lexicon::{Lexicon, WordRelation};
pub use rank::{RankScope, RankedTool, Ranking};

/// No place, no term.
const NONE: u32 = u32::MAX;

/// Options of a [`ToolIndex`].
#[derive(Debug, Clone)]
pub struct IndexOptions {
    /// Related words and turns of phrase; [`Lexicon::none`] switches them off.
    pub lexicon: Lexicon,
    /// Whether words that no tool has are replaced by similar ones.
    pub fuzzy: bool,
    /// How much the similarity of the caller's vectors counts beside the words, whose best score is 1.
    pub embedding_weight: f64,
}

impl Default for IndexOptions {
    fn default() -> Self {
        Self { lexicon: Lexicon::english(), fuzzy: true, embedding_weight: 1.0 }
    }
}

/// What the index keeps of a tool beside its postings.
#[derive(Debug, Clone)]
struct IndexedTool {
    /// Number of its id among the interned ids.
    id: u32,
    /// The name as it is.
    name: Box<str>,
    kinship: VariantSignature,
    /// Number of its namespace among the interned ones; [`NONE`] without one.
    family: u32,
    fingerprint: [u64; 2],
    /// The caller's vector, of length 1; empty for none.
    vector: Box<[f32]>,
}

/// An inverted index over the texts of tools.
#[derive(Debug, Clone)]
pub struct ToolIndex {
    options: IndexOptions,
    stop: StopWords,
    terms: Terms,
    postings: PostingLists,
    /// Tools that hold each term, those removed since the last packing included.
    frequencies: Vec<u32>,
    ids: Terms,
    /// By number of an id: the place of its tool, or [`NONE`].
    places: Vec<u32>,
    items: Vec<IndexedTool>,
    /// Terms in each field of each tool.
    lengths: Vec<[u32; FIELDS]>,
    /// Hashes of the id and the name of each tool, without regard to case.
    calls: Vec<[u32; 2]>,
    /// Number of the group of near-duplicates each tool is in; none for a removed tool.
    groups: Vec<u32>,
    signatures: Terms,
    namespaces: Terms,
    /// Number of tools in each namespace.
    families: Vec<u32>,
    removed: u32,
    /// Sum of the lengths of each field, and the number of tools where it is not empty.
    totals: [(u64, u32); FIELDS],
    /// Numbers of entries of the caller's vectors, while a tool has one.
    dimensions: usize,
    /// Number of tools with a vector.
    vectors: u32,
    fuzzy: Option<FuzzyVocabulary>,
    /// Number in `terms` of each term of the lexicon, as of that many terms.
    resolved: (usize, Vec<u32>),
    scratch: RankScratch,
    work: u64,
}

impl ToolIndex {
    /// Makes an empty index.
    pub fn new(options: IndexOptions) -> Self {
        Self {
            options,
            stop: lexicon::stop_words(),
            terms: Terms::default(),
            postings: PostingLists::default(),
            frequencies: Vec::new(),
            ids: Terms::default(),
            places: Vec::new(),
            items: Vec::new(),
            lengths: Vec::new(),
            calls: Vec::new(),
            groups: Vec::new(),
            signatures: Terms::default(),
            namespaces: Terms::default(),
            families: Vec::new(),
            removed: 0,
            totals: [(0, 0); FIELDS],
            dimensions: 0,
            vectors: 0,
            fuzzy: None,
            resolved: (0, Vec::new()),
            scratch: RankScratch::default(),
            work: 0,
        }
    }

    /// Makes an index of tools; of two with one id the later one counts.
    ///
    /// # Examples
    ///
    /// ```
    /// # use contextweaver_routing::Catalog;
    /// # use serde_json::json;
    /// # let catalog = Catalog::from_value(json!({ "items": [
    /// #     { "id": "files.read", "kind": "tool", "name": "read_file", "description": "Read a file from the disk." },
    /// #     { "id": "mail.send", "kind": "tool", "name": "send_mail", "description": "Send an email to a person." },
    /// # ] }), "")?;
    ///
    /// use contextweaver_routing::index::{IndexOptions, RankScope, ToolIndex};
    ///
    /// let mut index = ToolIndex::build(catalog.items(), IndexOptions::default());
    /// let ranking = index.rank("email somebody", RankScope { allowed: None, embedding: None, limit: 5 })?;
    /// assert_eq!(ranking.entries[0].id, "mail.send");
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn build<'a>(items: impl IntoIterator<Item = &'a SelectableItem>, options: IndexOptions) -> Self {
        let mut index = Self::new(options);
        let mut cache = WordCache::default();
        for item in items {
            index.add_with(item, &mut cache);
        }
        index.pack();
        index
    }

    /// Returns the number of tools.
    pub fn len(&self) -> usize {
        self.items.len() - self.removed as usize
    }

    /// Tells whether there is no tool.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Tells whether a tool with this id is there.
    pub fn contains(&self, id: &str) -> bool {
        self.place(id).is_some()
    }

    /// Returns how many terms were analysed and postings touched since the index was made.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// Returns the number of distinct terms, pairs included, and of the places where they occur.
    pub fn size(&self) -> (usize, usize) {
        let occurring = (0..self.terms.len() as u32).map(|term| self.frequency(term) as usize);
        occurring.fold((0, 0), |(terms, tools), found| (terms + usize::from(found > 0), tools + found))
    }

    /// Adds a tool, or replaces the one with its id.
    pub fn add(&mut self, item: &SelectableItem) {
        self.add_with(item, &mut WordCache::default());
    }

    /// Removes a tool; tells whether it was there.
    pub fn remove(&mut self, id: &str) -> bool {
        let Some(place) = self.place(id) else { return false };
        self.places[self.items[place as usize].id as usize] = NONE;
        self.groups[place as usize] = NONE;
        if let Some(members) = self.families.get_mut(self.items[place as usize].family as usize) {
            *members -= 1;
        }
        self.removed += 1;
        self.set_vector(place, Box::default());
        for (total, length) in self.totals.iter_mut().zip(self.lengths[place as usize]) {
            total.0 -= u64::from(length);
            total.1 -= u32::from(length > 0);
        }
        self.settle();
        true
    }

    /// Gives a tool the caller's vector, to be compared with that of a query.
    ///
    /// # Errors
    ///
    /// Fails with `NOT_FOUND`, and with `INVALID_INPUT` when its length is not that of the others or a number is not
    /// finite.
    pub fn set_embedding(&mut self, id: &str, vector: &[f32]) -> Result<()> {
        let Some(place) = self.place(id) else { return Err(not_found(id)) };
        let unit = self.unit_vector(vector)?;
        self.dimensions = vector.len();
        self.set_vector(place, unit);
        Ok(())
    }

    /// Returns the vectors of tools that have one, by id.
    pub fn vectors(&self) -> impl Iterator<Item = (&str, &[f32])> {
        let mut places: Vec<u32> = (0..self.items.len() as u32).filter(|place| self.is_there(*place)).collect();
        sort_by(&mut places, |a, b| self.id(*a).cmp(self.id(*b)));
        let all = places.into_iter().map(|place| (self.id(place), &*self.items[place as usize].vector));
        all.filter(|(_, vector)| !vector.is_empty())
    }

    /// Gives a tool a vector of [`ToolIndex::vectors`] as it is: scaled once more, it might differ in the last bits.
    ///
    /// # Errors
    ///
    /// Fails with `NOT_FOUND` for an id that is not indexed, and `INVALID_INPUT` for a vector of another length.
    pub fn restore_vector(&mut self, id: &str, vector: Vec<f32>) -> Result<()> {
        let Some(place) = self.place(id) else { return Err(not_found(id)) };
        self.unit_vector(&vector)?;
        self.dimensions = vector.len();
        self.set_vector(place, vector.into());
        Ok(())
    }

    /// Tells whether any tool has a vector.
    pub fn has_vectors(&self) -> bool {
        self.vectors > 0
    }

    fn set_vector(&mut self, place: u32, vector: Box<[f32]>) {
        let known = std::mem::replace(&mut self.items[place as usize].vector, vector);
        self.vectors -= u32::from(!known.is_empty());
        self.vectors += u32::from(!self.items[place as usize].vector.is_empty());
        if self.vectors == 0 {
            self.dimensions = 0;
        }
    }

    /// Checks a vector and gives it the length 1; one of zeros is like none.
    fn unit_vector(&self, vector: &[f32]) -> Result<Box<[f32]>> {
        let wanted = if self.dimensions == 0 { vector.len() } else { self.dimensions };
        if vector.len() != wanted || vector.is_empty() {
            let message = format!("expected a vector of {} numbers, got {}", wanted.max(1), vector.len());
            return Err(Error::new(ErrorCode::InvalidInput, message));
        }
        if let Some(at) = vector.iter().position(|number| !number.is_finite()) {
            return Err(Error::new(ErrorCode::InvalidInput, format!("number {at} of a vector is not finite")));
        }
        let length = libm::sqrt(vector.iter().map(|number| f64::from(*number) * f64::from(*number)).sum());
        if length == 0.0 {
            return Ok(Box::default());
        }
        Ok(vector.iter().map(|number| (f64::from(*number) / length) as f32).collect())
    }

    fn place(&self, id: &str) -> Option<u32> {
        let number = self.ids.get(Term::Word(id))?;
        self.places.get(number as usize).copied().filter(|place| *place != NONE)
    }

    /// Returns the id of the tool at a place.
    fn id(&self, place: u32) -> &str {
        self.ids.word(self.items[place as usize].id).unwrap_or_default()
    }

    fn is_there(&self, place: u32) -> bool {
        self.groups[place as usize] != NONE
    }

    /// Returns how many tools hold a term.
    fn frequency(&self, term: u32) -> u32 {
        if self.removed == 0 {
            return self.frequencies[term as usize];
        }
        let (mut count, mut last) = (0, NONE);
        for entry in self.postings.entries(term).filter(|entry| self.is_there(entry.item)) {
            count += u32::from(entry.item != last);
            last = entry.item;
        }
        count
    }

    fn add_with(&mut self, item: &SelectableItem, cache: &mut WordCache) {
        if self.remove(&item.id) {
            // Packing may have changed the numbers of the terms.
            *cache = WordCache::default();
        }
        let place = self.items.len() as u32;
        let mut read = ToolReader::new(&self.stop, &mut self.terms, cache);
        fields::for_each_text(item, &mut |field, text| {
            read.kinship.begin(field);
            analyse::for_each_word(text, &mut |word| read.word(field, word));
        });
        let (kinship, work) = (read.kinship, read.work);
        self.work += work;
        self.post(place, &cache.fields);
        let lengths = std::array::from_fn(|field| cache.fields[field].len() as u32);
        for (total, length) in self.totals.iter_mut().zip(&lengths) {
            total.0 += u64::from(*length);
            total.1 += u32::from(*length > 0);
        }
        self.insert(
            &item.id,
            lengths,
            IndexedTool {
                id: 0,
                name: item.name.as_str().into(),
                kinship,
                family: NONE,
                fingerprint: fields::fingerprint(item),
                vector: Box::default(),
            },
        );
        self.join_family(place, &item.namespace);
    }

    /// Notes the namespace of a tool.
    fn join_family(&mut self, place: u32, namespace: &str) {
        if !namespace.is_empty() {
            let family = self.namespaces.intern(Term::Word(namespace));
            self.families.resize(self.namespaces.len(), 0);
            self.families[family as usize] += 1;
            self.items[place as usize].family = family;
        }
    }

    /// Puts a tool at the next place.
    fn insert(&mut self, id: &str, lengths: [u32; FIELDS], item: IndexedTool) {
        let number = self.ids.intern(Term::Word(id));
        let place = self.items.len() as u32;
        if self.places.len() <= number as usize {
            self.places.resize(number as usize + 1, NONE);
        }
        self.places[number as usize] = place;
        let [high, low] = item.kinship.signature();
        self.groups.push(self.signatures.intern(Term::Pair(high, low)));
        self.lengths.push(lengths);
        self.calls.push([rank::call_hash(id), rank::call_hash(&item.name)]);
        self.items.push(IndexedTool { id: number, ..item });
    }

    /// Adds the entries of a tool: the last field first, as [`PostingLists::add`] wants it.
    fn post(&mut self, place: u32, fields: &[Vec<u32>; FIELDS]) {
        let mut touched = std::mem::take(&mut self.scratch.touched);
        for (field, words) in fields.iter().enumerate().rev() {
            let mut count = |term: u32, counts: &mut Vec<u32>| {
                if counts.len() <= term as usize {
                    counts.resize(term as usize + 1, 0);
                }
                if counts[term as usize] == 0 {
                    touched.push(term);
                }
                counts[term as usize] += 1;
            };
            let counts = &mut self.scratch.counts;
            for word in words {
                count(*word, counts);
            }
            for pair in words.windows(2) {
                count(self.terms.intern(Term::Pair(pair[0], pair[1])), counts);
            }
            self.work += touched.len() as u64;
            self.frequencies.resize(self.terms.len(), 0);
            for term in touched.drain(..) {
                let count = std::mem::take(&mut self.scratch.counts[term as usize]);
                if self.postings.newest(term) != Some(place) {
                    self.frequencies[term as usize] += 1;
                }
                self.postings.add(term, TermPosting::new(place, field, count));
            }
        }
        self.scratch.touched = touched;
    }

    /// Packs when enough has changed that it pays: the work is spread over the changes.
    fn settle(&mut self) {
        if self.postings.is_loose() || self.removed as usize > 64 + self.len() / 4 {
            self.pack();
        }
    }

    /// Packs the postings and forgets removed tools and the terms only they had.
    fn pack(&mut self) {
        self.work += self.postings.len() as u64;
        if self.removed == 0 {
            return self.postings.pack(&[], &[]);
        }
        let mut packed = Self::new(std::mem::take(&mut self.options));
        let mut numbers = Vec::with_capacity(self.terms.len());
        for term in 0..self.terms.len() as u32 {
            let found = self.frequency(term);
            let number = (found > 0).then(|| match self.terms.term(term) {
                // The words of a pair came before it.
                Term::Pair(first, second) => {
                    packed.terms.intern(Term::Pair(numbers[first as usize], numbers[second as usize]))
                }
                word @ Term::Word(_) => packed.terms.intern(word),
            });
            if found > 0 {
                packed.frequencies.push(found);
            }
            numbers.push(number.unwrap_or(NONE));
        }
        let mut places = Vec::with_capacity(self.items.len());
        for (place, item) in std::mem::take(&mut self.items).into_iter().enumerate() {
            let stays = self.groups[place] != NONE;
            places.push(if stays { packed.items.len() as u32 } else { NONE });
            if stays {
                let id = self.ids.text(item.id);
                packed.insert(&id, self.lengths[place], item);
            }
        }
        packed.postings = std::mem::take(&mut self.postings);
        packed.postings.pack(&places, &numbers);
        (packed.namespaces, packed.families) =
            (std::mem::take(&mut self.namespaces), std::mem::take(&mut self.families));
        (packed.totals, packed.work) = (self.totals, self.work);
        (packed.dimensions, packed.vectors) = (self.dimensions, self.vectors);
        *self = packed;
    }
}

fn not_found(id: &str) -> Error {
    Error::new(ErrorCode::NotFound, format!("no tool has the id {}", quote(id))).at("/id")
}
