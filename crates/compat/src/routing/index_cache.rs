//! Fitted indexes kept for the next time, as 0.18 keeps them.

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use contextweaver_routing::scorers::tfidf::TfIdf;
use contextweaver_text::hash::hex;

/// Envelopes that a cache keeps by default, at most.
pub const MAX_ENTRIES: usize = 128;

/// Returns the fingerprint of a corpus for an engine, in hex.
pub fn fingerprint<T: AsRef<str>>(documents: &[T], engine: &str) -> String {
    let mut hasher = Sha256::new();
    let length = |length: usize| (length as u64).to_be_bytes();
    hasher.update(length(engine.len()));
    hasher.update(engine);
    hasher.update(length(documents.len()));
    for document in documents {
        hasher.update(length(document.as_ref().len()));
        hasher.update(document.as_ref());
    }
    hex(&hasher.finalize())
}

/// Returns the record in which a fitted TF-IDF is kept.
pub fn envelope(fitted: &TfIdf) -> Value {
    let idf: Map<String, Value> =
        fitted.weights().into_iter().map(|(word, weight)| (word.to_owned(), weight.into())).collect();
    json!({
        "envelope_version": 1,
        "codec": "tfidf",
        "version": 1,
        "state": { "documents": fitted.words(), "idf": idf, "corpus_size": fitted.len() },
    })
}

/// Reads a record of [`envelope`]; whatever is wrong with it, there is none.
pub fn open(envelope: &Value) -> Option<TfIdf> {
    if envelope["envelope_version"] != 1 || envelope["codec"] != "tfidf" || envelope["version"] != 1 {
        return None;
    }
    let state = &envelope["state"];
    let idf = state["idf"].as_object()?;
    let documents: Option<Vec<Vec<&str>>> = state["documents"]
        .as_array()?
        .iter()
        .map(|words| words.as_array()?.iter().map(Value::as_str).collect())
        .collect();
    let documents = documents?;
    if state["corpus_size"].as_u64() != Some(documents.len() as u64) {
        return None;
    }
    TfIdf::from_words(&documents, |word| idf.get(word).and_then(Value::as_f64))
}

/// Envelopes by fingerprint, those used last.
#[derive(Debug, Clone)]
pub struct IndexCache {
    /// The one used last stands last.
    entries: Vec<(String, Value)>,
    limit: usize,
}

impl Default for IndexCache {
    fn default() -> Self {
        Self::new(MAX_ENTRIES)
    }
}

impl IndexCache {
    /// Makes an empty cache of at most so many envelopes.
    pub fn new(limit: usize) -> Self {
        Self { entries: Vec::new(), limit }
    }

    /// Returns an envelope, which thereby is the one used last.
    pub fn get(&mut self, fingerprint: &str) -> Option<&Value> {
        let at = self.entries.iter().position(|(known, _)| known == fingerprint)?;
        let entry = self.entries.remove(at);
        self.entries.push(entry);
        self.entries.last().map(|(_, envelope)| envelope)
    }

    /// Keeps an envelope; the one not used for longest goes where there are too many.
    pub fn put(&mut self, fingerprint: &str, envelope: Value) {
        self.entries.retain(|(known, _)| known != fingerprint);
        self.entries.push((fingerprint.to_owned(), envelope));
        while self.entries.len() > self.limit {
            self.entries.remove(0);
        }
    }

    /// Fits a corpus, or takes what was fitted before.
    pub fn fit<T: AsRef<str>>(&mut self, documents: &[T]) -> TfIdf {
        let fingerprint = fingerprint(documents, "tfidf");
        let kept = self.get(&fingerprint).and_then(open).filter(|kept| kept.len() == documents.len());
        kept.unwrap_or_else(|| {
            let fitted = TfIdf::fit(documents);
            self.put(&fingerprint, envelope(&fitted));
            fitted
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_is_a_miss() {
        let documents = ["search the web", "send email email"];
        let whole = envelope(&TfIdf::fit(&documents));
        let query = "send web mail";
        let (fitted, read) = (TfIdf::fit(&documents), open(&whole).unwrap());
        for index in 0..2 {
            assert_eq!(fitted.score(&fitted.prepare(query), index), read.score(&read.prepare(query), index));
        }
        for (pointer, value) in [
            ("/envelope_version", json!(2)),
            ("/codec", json!("bm25")),
            ("/state", json!(null)),
            ("/state/corpus_size", json!(3)),
            ("/state/documents/0", json!([1])),
            ("/state/documents/0", json!(["unknown"])),
            ("/state/idf/web", json!("x")),
        ] {
            let mut damaged = whole.clone();
            *damaged.pointer_mut(pointer).unwrap() = value;
            assert!(open(&damaged).is_none(), "{pointer}");
        }
        let mut cache = IndexCache::new(1);
        cache.fit(&documents);
        cache.fit(&["other"]);
        assert!(cache.get(&fingerprint(&documents, "tfidf")).is_none());
    }
}
