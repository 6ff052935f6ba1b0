//! What contextweaver 0.18 for Python decides differently. No other library crate imports this one: programs that want
//! these decisions pass what is here to the default crates, and programs that do not leave it out of their build.
//!
//! [`messages`] and [`mcp`] convert. The pipeline of a manager is in `contextweaver_context::compat`.
//!
//! ```
//! use contextweaver_compat::messages::from_openai;
//! use serde_json::json;
//!
//! let items = from_openai(&json!([{ "role": "system", "content": "Answer briefly." }]), "/messages")?;
//! assert_eq!(items[0].id, "openai:system:0");
//! // What 0.18 refuses is refused.
//! assert!(from_openai(&json!([{ "role": "developer", "content": "" }]), "/messages").is_err());
//! # Ok::<(), contextweaver_base::Error>(())
//! ```

pub mod mcp;
pub mod messages;
