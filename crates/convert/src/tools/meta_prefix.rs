//! The prefix of keys that this library writes into `_meta`.

use crate::mcp::{MetaKeyProblem, Revision, check_meta_key};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_text::quote::quote;

/// The prefix unless the caller sets one: a reversed domain, as MCP asks for.
pub const DEFAULT_PREFIX: &str = "dev.contextweaver";

/// A prefix of keys in `_meta` that MCP leaves to others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetaPrefix(String);

impl Default for MetaPrefix {
    fn default() -> Self {
        Self(DEFAULT_PREFIX.to_owned())
    }
}

impl MetaPrefix {
    /// Takes a prefix that no revision reserves.
    ///
    /// # Errors
    /// `INVALID_INPUT` with the reason `reserved_prefix`.
    ///
    /// ```
    /// use contextweaver_convert::tools::MetaPrefix;
    ///
    /// assert!(MetaPrefix::new("com.example").is_ok());
    /// assert!(MetaPrefix::new("io.modelcontextprotocol").is_err());
    /// ```
    pub fn new(prefix: &str) -> Result<Self> {
        let own = Self(prefix.to_owned());
        let problem = Revision::ALL.iter().find_map(|revision| check_meta_key(&own.key("x"), *revision).err());
        let message = match problem {
            None => return Ok(own),
            Some(MetaKeyProblem::Malformed) => format!("{} is no prefix: labels joined by dots", quote(prefix)),
            Some(_) => format!("the prefix {} belongs to the protocol", quote(prefix)),
        };
        Err(Error::new(ErrorCode::InvalidInput, message)
            .detail("reason", "reserved_prefix")
            .hint("use the name of a domain of yours, turned round"))
    }

    /// Returns a key with the prefix.
    pub(super) fn key(&self, name: &str) -> String {
        format!("{}/{name}", self.0)
    }

    /// Returns the key of a definition.
    pub(super) fn definition(&self) -> String {
        self.key("tool-definition")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_of_the_protocol_are_refused() {
        assert!(MetaPrefix::new(DEFAULT_PREFIX).is_ok() && MetaPrefix::new("com.example.mcp-tools").is_ok());
        for bad in ["io.modelcontextprotocol", "dev.mcp.x", "com.MCP.tools", "mcp.dev", "", "a b", "a/b", ".a", "1a"] {
            let error = MetaPrefix::new(bad).unwrap_err();
            assert_eq!(error.details()["reason"], "reserved_prefix", "{bad}");
        }
    }
}
