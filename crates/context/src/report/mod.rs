//! What builds did, for people: reports, inspections, running totals.

mod build;
mod inspect;
mod metrics;

pub use build::BuildReport;
pub use inspect::{Inspection, InspectionParts, artifacts_of};
pub use metrics::{Metrics, MetricsSummary};
