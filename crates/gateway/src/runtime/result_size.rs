//! How much of a result a client gets: what the operator says, what the client says of itself, and what the server says of a tool.

use serde_json::Value;

use contextweaver_model::json::JsonMap;

use super::Gateway;
use crate::front::ToolPlace;

/// Under this key a client says with a call how many characters of its result it takes, and a server with a tool how many its
/// results have.
const RESULT_CHARS: &str = "anthropic/maxResultSizeChars";
/// Characters of a token, about.
const CHARS_PER_TOKEN: u64 = 4;

/// A client that cuts results by itself.
struct KnownClient {
    /// How its name begins.
    name: &'static str,
    /// Tokens beyond which it cuts a result.
    tokens: u64,
    /// Whether it takes as many characters of the results of a tool as its server says.
    heeds_tools: bool,
}

/// Clients whose limits are documented. Claude Code: `MAX_MCP_OUTPUT_TOKENS`, code.claude.com/docs/en/mcp, 2026-10.
const KNOWN: &[KnownClient] = &[KnownClient { name: "claude-code", tokens: 25_000, heeds_tools: true }];
/// The most characters that a server may ask for of those clients.
const MOST_DECLARED: u64 = 500_000;

/// How much of a result a client gets; nothing where nobody says anything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ResultSize {
    pub tokens: Option<u64>,
    pub chars: Option<u64>,
}

/// What a client says of how much it takes: its name, and the limit of this call.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClientLimits {
    pub name: Option<String>,
    pub chars: Option<u64>,
}

impl ClientLimits {
    /// Reads the limit of a call out of its `_meta`.
    pub fn of(name: Option<String>, meta: &JsonMap) -> Self {
        Self { name, chars: chars_in(meta) }
    }
}

fn chars_in(meta: &JsonMap) -> Option<u64> {
    meta.get(RESULT_CHARS).and_then(Value::as_u64).filter(|chars| *chars > 0)
}

impl Gateway {
    /// How much of a tool's results a client gets. The operator's word for the tool goes before that for its server and that for
    /// all; what a client takes is a bound of each.
    pub(crate) fn result_size(&self, place: ToolPlace, client: &ClientLimits) -> ResultSize {
        let Some((server, tool)) = self.tool(place) else { return ResultSize::default() };
        let of_tool = server.override_of(tool.name()).and_then(|said| said.result_tokens);
        let said = of_tool.or(server.result_tokens).or(self.options.result_tokens);
        let asked = client.chars.map(|chars| (chars / CHARS_PER_TOKEN).max(1));
        let known = client.name.as_deref().and_then(|name| KNOWN.iter().find(|known| name.starts_with(known.name)));
        let declared = known.filter(|known| known.heeds_tools).and_then(|_| {
            chars_in(tool.shown.get("_meta")?.as_object()?).map(|chars| chars.min(MOST_DECLARED) / CHARS_PER_TOKEN)
        });
        let own = declared.map_or_else(|| known.map(|known| known.tokens), Some);
        let wanted = said.or(asked).or(declared);
        let bounds = [asked, own];
        let tokens = wanted.map(|wanted| bounds.into_iter().flatten().fold(wanted, u64::min).max(1));
        ResultSize { tokens, chars: client.chars }
    }
}
