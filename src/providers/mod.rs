//! Messages of model providers and the items of the event log, both ways.

pub mod reference;
