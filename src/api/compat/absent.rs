//! The mode in a build without the feature.

use serde_json::Value;

use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_context::ContextManager;
use contextweaver_convert::mcp::ConvertedResult;
use contextweaver_model::json::Fields;

/// The mode, which no value of this type can ask for.
#[derive(Debug, Clone, Copy)]
pub enum Compat {}

impl Compat {
    pub fn get() -> Result<Self> {
        Err(Error::new(ErrorCode::Unsupported, "this build has no compat mode")
            .hint("leave `compat` out, or build with the feature `compat`"))
    }

    pub fn convert_call(self, _: &str, _: Fields) -> Result<String> {
        match self {}
    }

    pub fn mcp_result_to_envelope(self, _: &Value, _: &str) -> Result<ConvertedResult> {
        match self {}
    }

    pub fn manager(self, _: Fields) -> Result<ContextManager> {
        match self {}
    }
}
