//! From a query to a short list, with a reason for every place.

mod decision;
mod explanation;
mod feedback;
mod history;

pub use decision::{DecisionParts, RoutingDecision};
pub use explanation::RouteExplanation;
pub use feedback::{FeedbackWeights, ToolFeedback, adjust_by_feedback, aggregate_feedback};
pub use history::{CalledTools, RouteHistory, ScoreDeltas};
