//! What a gateway has done so far.

use serde::Serialize;

use contextweaver_base::order::sort_by;
use contextweaver_model::json::pointer;
use contextweaver_text::quote::quote;

use crate::front::{FrontMode, ToolPlace, safe_line};
use crate::runtime::{CallCounts, ClientTraits, Gateway, UnmatchedRule};
use crate::servers::{OverriddenTool, OverrideProblem, Server, ServerStatus, ToolRef};

/// Tools that are told.
const MAX_TOLD: usize = 100;
/// Overridden tools that are told.
const MAX_OVERRIDES: usize = 200;

/// What was counted of one tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ToolStats {
    /// The server.
    pub server: String,
    /// The name that the server has for the tool, made safe to show.
    pub tool: String,
    /// The counts.
    #[serde(flatten)]
    pub counts: CallCounts,
}

/// One of the largest results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct LargeResult {
    /// The server.
    pub server: String,
    /// The tool, made safe to show.
    pub tool: String,
    /// Tokens of the result.
    #[cfg_attr(feature = "ts", ts(type = "number"))]
    pub tokens: u64,
    /// Bytes of the result.
    #[cfg_attr(feature = "ts", ts(type = "number"))]
    pub bytes: u64,
    /// When it came, in milliseconds of the host's clock.
    #[cfg_attr(feature = "ts", ts(type = "number"))]
    pub at_ms: u64,
}

/// A server in the statistics.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ServerStats {
    /// Its name.
    pub name: String,
    /// Whether it can be reached.
    pub status: ServerStatus,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub detail: Option<String>,
    /// Its tools.
    pub tools: usize,
    /// Those of them that are neither shown nor called.
    pub quarantined: usize,
    /// Its resources and templates of such.
    pub resources: usize,
    /// Its prompts.
    pub prompts: usize,
    /// Entries of its lists that could not be used.
    pub left_out: usize,
    /// Entries of which something was not as the protocol says and was mended.
    pub mended: usize,
    /// Tokens of its tools as it listed them.
    #[cfg_attr(feature = "ts", ts(type = "number"))]
    pub tokens: u64,
}

/// How often something was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RefusalStats {
    /// The code that models were told.
    pub error: String,
    /// The reason of the policy, the limit that was reached, or nothing.
    pub reason: String,
    /// How often.
    #[cfg_attr(feature = "ts", ts(type = "number"))]
    pub count: u64,
}

/// What a gateway has done so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct GatewayStats {
    /// Which tools clients see.
    pub mode: FrontMode,
    /// Tokens of the list of tools of a client that has used nothing.
    #[cfg_attr(feature = "ts", ts(type = "number"))]
    pub front_tokens: u64,
    /// Sessions that are known.
    pub sessions: usize,
    /// Calls that wait for a server or a user.
    pub open_calls: usize,
    /// All calls together.
    pub totals: CallCounts,
    /// Searches of tools.
    #[cfg_attr(feature = "ts", ts(type = "number"))]
    pub searches: u64,
    /// Parts of results that were read.
    #[cfg_attr(feature = "ts", ts(type = "number"))]
    pub drilldowns: u64,
    /// Searches of what stored results hold.
    #[cfg_attr(feature = "ts", ts(type = "number"))]
    pub recalls: u64,
    /// Calls that were answered from what was kept.
    #[cfg_attr(feature = "ts", ts(type = "number"))]
    pub cache_hits: u64,
    /// Calls that were made again.
    #[cfg_attr(feature = "ts", ts(type = "number"))]
    pub retries: u64,
    /// The servers.
    pub servers: Vec<ServerStats>,
    /// The tools that saved most, at most 100.
    pub tools: Vec<ToolStats>,
    /// The largest results, at most ten.
    pub largest: Vec<LargeResult>,
    /// What was refused and why, the most frequent first.
    pub refusals: Vec<RefusalStats>,
    /// Rules of policies that name tools which no server has, once each server has listed its tools or cannot be reached.
    pub unmatched_rules: Vec<UnmatchedRule>,
    /// Tools of which the operator says something in place of their servers, with what the servers say; at most 200.
    pub overrides: Vec<OverriddenTool>,
}

impl Gateway {
    /// Returns what the gateway has done so far.
    ///
    /// ```
    /// use contextweaver_gateway::{Gateway, GatewayOptions};
    /// use serde_json::json;
    ///
    /// let mut gateway = Gateway::new(GatewayOptions::from_value(json!({ "servers": [{ "name": "files" }] }))?);
    /// let stats = gateway.stats();
    /// assert_eq!((stats.servers[0].name.as_str(), stats.totals.calls), ("files", 0));
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn stats(&mut self) -> GatewayStats {
        let front = self.front(None, None, &ClientTraits::default());
        let front_tokens =
            contextweaver_text::tokens::Estimator::V3.tokens(&serde_json::json!(front.tools).to_string());
        let counters = &self.stats;
        let name = |tool: &ToolRef| {
            let server = self.servers.get(tool.server).map_or("", |server| server.name.as_str());
            (server.to_owned(), safe_line(&tool.name))
        };
        let mut tools: Vec<ToolStats> = counters
            .tools
            .iter()
            .map(|(tool, counts)| {
                let (server, tool) = name(tool);
                ToolStats { server, tool, counts: *counts }
            })
            .collect();
        sort_by(&mut tools, |a, b| {
            let rank = |tool: &ToolStats| (tool.counts.saved_tokens, tool.counts.calls);
            rank(b).cmp(&rank(a)).then_with(|| (&a.server, &a.tool).cmp(&(&b.server, &b.tool)))
        });
        tools.truncate(MAX_TOLD);
        let largest = counters.largest.iter().map(|(tool, tokens, bytes, at_ms)| {
            let (server, tool) = name(tool);
            LargeResult { server, tool, tokens: *tokens, bytes: *bytes, at_ms: *at_ms }
        });
        let refusals = counters.refusals.iter().map(|((error, reason), count)| RefusalStats {
            error: error.clone(),
            reason: reason.clone(),
            count: *count,
        });
        let mut refusals: Vec<RefusalStats> = refusals.collect();
        sort_by(&mut refusals, |a, b| {
            b.count.cmp(&a.count).then_with(|| (&a.error, &a.reason).cmp(&(&b.error, &b.reason)))
        });
        let servers = self.servers.iter().map(|server| ServerStats {
            name: server.name.clone(),
            status: server.status,
            detail: server.detail.clone(),
            tools: server.tools.len(),
            quarantined: server.tools.len() - server.usable().count(),
            resources: server.resources.len() + server.resource_templates.len(),
            prompts: server.prompts.len(),
            left_out: server.counts[0],
            mended: server.counts[1],
            tokens: server.report.tokens,
        });
        GatewayStats {
            mode: front.mode,
            front_tokens,
            sessions: self.sessions.len(),
            open_calls: self.open_calls(),
            totals: counters.totals,
            searches: counters.searches,
            drilldowns: counters.drilldowns,
            recalls: counters.recalls,
            cache_hits: counters.cache_hits,
            retries: counters.retries,
            servers: servers.collect(),
            tools,
            largest: largest.collect(),
            refusals,
            unmatched_rules: self.unmatched_rules(),
            overrides: self.overridden(),
        }
    }

    /// The tools that overrides speak of, with the names that clients know now.
    fn overridden(&self) -> Vec<OverriddenTool> {
        let all = self
            .servers
            .iter()
            .enumerate()
            .flat_map(|(at, server)| server.overridden.iter().map(move |one| (at, server, one)));
        all.take(MAX_OVERRIDES).map(|(at, server, one)| self.named_override(at, server, one.clone())).collect()
    }

    fn named_override(&self, at: usize, server: &Server, mut one: OverriddenTool) -> OverriddenTool {
        let Some(tool) = server.tools.iter().position(|tool| safe_line(tool.name()) == one.tool) else { return one };
        let shown = self.names.table.name(ToolPlace { server: at, tool });
        let said = server.override_of(server.tools[tool].name());
        if let Some((said, wanted)) = said.and_then(|said| Some((said, said.name.as_ref()?)))
            && wanted != shown
        {
            let message = format!("another tool is called {} as well: clients see {}", quote(wanted), quote(shown));
            let path = pointer(&said.path, "name");
            one.problems.push(OverrideProblem { code: "name-taken", path, message });
        }
        one.shown_as = Some(shown.to_owned());
        one
    }
}
