//! What builds did, for people: reports, inspections, running totals.

mod build;
mod inspect;
pub mod markdown;
mod metrics;
pub mod numbers;

pub use build::BuildReport;
pub use inspect::{Inspection, InspectionParts, artifacts_of};
pub use metrics::{Metrics, MetricsSummary};
