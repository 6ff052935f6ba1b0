//! State: the event log, artifacts, episodes and facts. All in memory, all bounded, failures leave no trace.

mod artifacts;
mod bundle;
mod episodic;
mod event_log;
mod facts;
mod recall;
mod unknown;

pub use artifacts::{ArtifactStore, Eviction, NewArtifact, StoreOptions, content_hash};
pub use bundle::StoreBundle;
pub use episodic::EpisodicStore;
pub use event_log::EventLog;
pub use facts::{FactStore, sequence_of};
pub use unknown::Unknown;
