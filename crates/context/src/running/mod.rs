//! The running prompt: what was sent last, and what came since.
//!
//! Between two cuts a prompt is the one before and what is new, byte for byte, so that a provider's cache keeps working. A cut
//! compiles it anew, smaller, by the stages of a build. [`cut`] says when and how deep, [`entry`] how what is new enters.

mod account;
mod anew;
mod cut;
mod entry;
mod manager;
mod messages;
mod prices;
mod prompt;
mod recalled;
mod record;
mod request;
mod step;
mod writer;

pub(crate) use manager::FinishedStep;
pub(crate) use messages::MessageWriter;
pub use prices::{PROVIDERS, PriceModel, ProviderPrices};
pub use prompt::{RunningPrompt, RunningPrompts};
pub(crate) use request::RunningMessages;
pub(crate) use step::reason_of_change;
