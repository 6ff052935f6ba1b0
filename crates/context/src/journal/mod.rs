//! A manager as a journal: what changed since it was written last, and back.
//!
//! Changes say what records are now, not what was done, so a change that was written twice is harmless. Every store counts
//! its changes and knows of each record by which of them it became what it is; a cursor is those counts, and where the
//! journal ends.

pub mod counts;
mod export;
mod restore;

pub use export::{JournalBlob, JournalExport, JournalOptions};
pub use restore::RestoredJournal;

use self::counts::{Count, JournalCounts};
use crate::manager::ContextManager;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::journal::JournalEnd;
use contextweaver_text::quote::quote;

/// What a journal of a manager says it is of.
const KIND: &str = "session";

/// A place in a journal, as text: `<parts>-<hash of the last one>-<counts>`.
struct Cursor {
    end: JournalEnd,
    counts: JournalCounts,
}

impl Cursor {
    fn write(&self) -> String {
        let counts: Vec<String> = self.counts.all().iter().map(u64::to_string).collect();
        format!("{}-{}", self.end, counts.join("."))
    }

    fn parse(text: &str) -> Result<Self> {
        let read = || {
            let (end, counts) = text.rsplit_once('-')?;
            let mut counts = counts.split('.').map(|count| count.parse().ok()).collect::<Option<Vec<u64>>>()?;
            // Those of earlier releases count no rules.
            if counts.len() + 1 == JournalCounts::LENGTH {
                counts.push(0);
            }
            let counts = <[u64; JournalCounts::LENGTH]>::try_from(counts).ok()?.into();
            Some(Self { end: JournalEnd::parse(end)?, counts })
        };
        read().ok_or_else(|| {
            Error::new(ErrorCode::InvalidInput, format!("{} is no cursor", quote(text)))
                .at("/cursor")
                .hint("give the cursor that exportSince returned last, or none for everything")
        })
    }
}

impl ContextManager {
    pub(crate) fn journal_counts(&self) -> JournalCounts {
        let mut counts = JournalCounts::default();
        let mut set = |count, value| counts.set(count, value);
        set(Count::Items, self.events.changes());
        set(Count::Artifacts, self.artifacts.edits());
        set(Count::Uses, self.artifacts.uses());
        set(Count::Facts, self.facts.changes());
        set(Count::FactSequence, self.fact_sequence.map_or(0, |next| next + 1));
        set(Count::Episodes, self.episodes.changes());
        set(Count::Running, self.running.changes());
        set(Count::Messages, self.known_messages.changes());
        set(Count::Calibrations, self.journal.calibrations);
        set(Count::Rules, self.rule_book.changes());
        counts
    }

    /// Says that a journal is kept from now on: snapshots tell how far it is, so that cursors stay good.
    pub fn keep_journal(&mut self) {
        self.journal.is_kept = true;
    }

    /// Goes on counting from where a journal ended. Of what was before nothing is known: an older cursor gets everything.
    pub(crate) fn begin_journal(&mut self, counts: JournalCounts) {
        self.events.count_from(counts.of(Count::Items));
        self.artifacts.count_from(counts.of(Count::Artifacts), counts.of(Count::Uses));
        self.facts.count_from(counts.of(Count::Facts));
        self.episodes.count_from(counts.of(Count::Episodes));
        self.running.count_from(counts.of(Count::Running));
        self.known_messages.count_from(counts.of(Count::Messages));
        self.journal.calibrations = counts.of(Count::Calibrations);
        self.rule_book.count_from(counts.of(Count::Rules));
        self.journal.base = self.journal_counts();
    }
}
