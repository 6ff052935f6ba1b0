//! How the store shows itself to clients.

use super::tool_specs::tool;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::Fields;
use contextweaver_text::unicode::quote;

/// Characters that the name of a tool may have.
const MAX_NAME: usize = 64;

/// Options of the tools and of the server.
#[derive(Debug, Clone)]
pub struct ServiceOptions {
    /// The name of the server.
    pub server_name: String,
    /// The tools that are offered, by their names without prefix; none means all.
    pub tools: Vec<String>,
    /// What stands before the name of each tool.
    pub tool_name_prefix: String,
    /// Whether credentials are masked in everything that is said; what is stored keeps them.
    pub redact_secrets: bool,
}

impl Default for ServiceOptions {
    fn default() -> Self {
        Self {
            server_name: "cstp-decisions".to_owned(),
            tools: Vec::new(),
            tool_name_prefix: String::new(),
            redact_secrets: true,
        }
    }
}

impl ServiceOptions {
    /// Takes the options out of those of a store.
    pub fn take(fields: &mut Fields) -> Result<Self> {
        let usual = Self::default();
        let options = Self {
            server_name: fields.string_or("server_name", &usual.server_name)?,
            tools: fields.strings("tools")?,
            tool_name_prefix: fields.string_or("tool_name_prefix", "")?,
            redact_secrets: fields.bool_or("redact_secrets", usual.redact_secrets)?,
        };
        let place = |index: usize| format!("{}/{index}", fields.at("tools"));
        if let Some((index, name)) = options.tools.iter().enumerate().find(|(_, name)| tool(name).is_none()) {
            let message = format!("there is no tool {}", quote(name));
            return Err(Error::new(ErrorCode::InvalidInput, message).at(place(index)));
        }
        let prefix = &options.tool_name_prefix;
        let is_plain = prefix.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
        if !is_plain || prefix.len() > MAX_NAME / 2 {
            let message = format!("a prefix has at most {} letters, digits and _-.", MAX_NAME / 2);
            return Err(Error::new(ErrorCode::InvalidInput, message).at(fields.at("tool_name_prefix")));
        }
        Ok(options)
    }
}
