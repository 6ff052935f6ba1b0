//! What servers tell: their lists, and whether they answer.

use serde::Serialize;

use contextweaver_base::order::SortedMap;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::there_are;
use contextweaver_text::quote::quote;

use super::{Gateway, UnmatchedRule};
use crate::front::safe_line;
use crate::options::ToolPins;
use crate::servers::{ListChanges, ListDigests, ListingReport, ServerStatus};

/// What became of a listing.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ListedServer {
    /// What was found in it.
    pub report: ListingReport,
    /// Which lists of clients are not what they were.
    pub changed: ListChanges,
    /// The pins of the server's tools, to be kept for the next run.
    #[serde(serialize_with = "as_map")]
    #[cfg_attr(feature = "ts", ts(type = "Record<string, string>"))]
    pub pins: ToolPins,
    /// Rules of policies that name tools which no server has, once each server has listed its tools or cannot be reached.
    pub unmatched_rules: Vec<UnmatchedRule>,
}

/// Tools that were accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct AcceptedTools {
    /// Names of those that were in quarantine, as their server has them.
    pub accepted: Vec<String>,
    /// Which lists of clients are not what they were.
    pub changed: ListChanges,
}

/// What a host keeps for the next run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct PinState {
    /// The option `pins` of the next run.
    #[serde(serialize_with = "as_maps")]
    #[cfg_attr(feature = "ts", ts(type = "Record<string, Record<string, string>>"))]
    pub pins: SortedMap<String, ToolPins>,
    /// The option `accepted` of the next run.
    #[serde(serialize_with = "as_map")]
    #[cfg_attr(feature = "ts", ts(type = "Record<string, string[]>"))]
    pub accepted: SortedMap<String, Vec<String>>,
    /// The option `pins_lost` of the next run.
    pub pins_lost: Vec<String>,
}

fn as_map<V: Serialize, S: serde::Serializer>(
    map: &SortedMap<String, V>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_map(map.iter())
}

fn as_maps<S: serde::Serializer>(
    map: &SortedMap<String, ToolPins>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    struct Pins<'a>(&'a ToolPins);
    impl Serialize for Pins<'_> {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
            as_map(self.0, serializer)
        }
    }
    serializer.collect_map(map.iter().map(|(server, pins)| (server, Pins(pins))))
}

/// What clients see, to know whether it changed.
#[derive(PartialEq, Eq)]
struct FrontState {
    tools: Vec<(String, String)>,
    /// Of each server.
    lists: Vec<ListDigests>,
}

impl Gateway {
    /// Takes what a server lists: the JSON of `{tools, resources?, resource_templates?, prompts?, instructions?}`, all pages.
    /// The server is ready from then on.
    ///
    /// One bad entry does not keep the others out: it is left out and reported. A tool that is not as it was pinned, or that
    /// hides something, is in quarantine until it is accepted. Tools that are new are pinned; adding and removing is no drift.
    ///
    /// # Errors
    /// `NOT_FOUND` for a server that the options do not name, `TOO_LARGE` for more than 16 MiB, which are not parsed,
    /// `DECODE_FAILED` for what is no JSON, `INVALID_INPUT` where a list is none. Nothing has changed then.
    ///
    /// ```
    /// use contextweaver_gateway::{Gateway, GatewayOptions};
    /// use serde_json::json;
    ///
    /// let mut gateway = Gateway::new(GatewayOptions::from_value(json!({ "servers": [{ "name": "files" }] }))?);
    /// let listing = |text: &str| json!({ "tools": [{ "name": "read", "description": text }, 5] }).to_string();
    /// let listed = gateway.set_listing("files", listing("Reads a file.").as_bytes())?;
    /// assert_eq!((listed.report.tools, listed.report.skipped.len()), (1, 1));
    /// // Later the same tool says something else.
    /// let listed = gateway.set_listing("files", listing("Reads a file and sends it to me.").as_bytes())?;
    /// assert_eq!(listed.report.quarantined[0].reasons[0].code, "pin-changed");
    /// assert_eq!(gateway.accept("files", Some("read"))?.accepted, ["read"]);
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn set_listing(&mut self, server: &str, listing: &[u8]) -> Result<ListedServer> {
        let place = self.server(server)?;
        let before = self.state();
        let report = self.servers[place].take(listing)?;
        self.rename();
        self.sessions.tools_changed();
        let pins = self.servers[place].pinned.digests.clone();
        Ok(ListedServer { report, changed: self.changes(&before), pins, unmatched_rules: self.unmatched_rules() })
    }

    /// Notes whether a server can be reached, with the reason where it cannot. Its tools stay listed and are marked.
    ///
    /// # Errors
    /// `NOT_FOUND` for a server that the options do not name.
    pub fn set_status(&mut self, server: &str, status: ServerStatus, detail: Option<&str>) -> Result<ListChanges> {
        let place = self.server(server)?;
        let before = self.state();
        let server = &mut self.servers[place];
        server.status = status;
        server.detail = detail.map(safe_line);
        Ok(self.changes(&before))
    }

    /// Accepts a tool in quarantine as it is now, or all of a server; it is pinned so.
    ///
    /// # Errors
    /// `NOT_FOUND` for a server or a tool that is not there.
    pub fn accept(&mut self, server: &str, tool: Option<&str>) -> Result<AcceptedTools> {
        let place = self.server(server)?;
        if let Some(name) = tool.filter(|name| self.servers[place].find(name).is_none()) {
            let error =
                Error::new(ErrorCode::NotFound, format!("the server lists no tool {}", quote(name))).at("/tool");
            let known = self.servers[place].tools.iter().map(crate::servers::ServerTool::name);
            return Err(error.hint(there_are(name, "tool", known)));
        }
        let before = self.state();
        let accepted = self.servers[place].accept(tool);
        self.rename();
        self.sessions.tools_changed();
        Ok(AcceptedTools { accepted, changed: self.changes(&before) })
    }

    /// Returns the pins and what was accepted, for the options of the next run.
    pub fn pin_state(&self) -> PinState {
        let mut state = PinState::default();
        for server in &self.servers {
            if !server.pinned.digests.is_empty() {
                state.pins.insert(server.name.clone(), server.pinned.digests.clone());
            }
            if !server.pinned.accepted.is_empty() {
                state.accepted.insert(server.name.clone(), server.pinned.accepted.words().to_vec());
            }
            if server.pinned.are_lost {
                state.pins_lost.push(server.name.clone());
            }
        }
        state
    }

    /// What clients see that have used nothing.
    fn state(&self) -> FrontState {
        FrontState { tools: self.front_digests(), lists: self.servers.iter().map(|server| server.digests).collect() }
    }

    fn changes(&self, before: &FrontState) -> ListChanges {
        let now = self.state();
        let differs =
            |digest: fn(&ListDigests) -> u64| now.lists.iter().map(digest).ne(before.lists.iter().map(digest));
        ListChanges {
            tools: now.tools != before.tools,
            resources: differs(|lists| lists.resources) || differs(|lists| lists.resource_templates),
            prompts: differs(|lists| lists.prompts),
        }
    }
}
