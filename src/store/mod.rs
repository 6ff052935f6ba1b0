//! State: the event log, artifacts, episodes and facts. All in memory, all bounded, failures leave no trace.

mod artifacts;
mod episodic;
mod event_log;
mod facts;
mod selector;

pub use artifacts::{ArtifactStore, content_hash};
pub use episodic::EpisodicStore;
pub use event_log::EventLog;
pub use facts::FactStore;
pub use selector::Selector;
