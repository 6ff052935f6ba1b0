//! How the store shows itself to clients.

/// Options of the tools and of the server.
#[derive(Debug, Clone)]
pub struct ServiceOptions {
    /// The name of the server.
    pub server_name: String,
    /// The tools that are offered, by their names without prefix; none means all.
    pub tools: Vec<String>,
    /// What stands before the name of each tool.
    pub tool_name_prefix: String,
}

impl Default for ServiceOptions {
    fn default() -> Self {
        Self { server_name: "cstp-decisions".to_owned(), tools: Vec::new(), tool_name_prefix: String::new() }
    }
}
