//! What builds did, for people: reports, inspections, running totals.

mod build;
mod inspect;
mod metrics;

pub use build::{BuildReport, REPORT_VERSION};
pub use inspect::{INSPECTION_VERSION, Inspection, InspectionParts, artifacts_of};
pub use metrics::{Metrics, MetricsSummary};
