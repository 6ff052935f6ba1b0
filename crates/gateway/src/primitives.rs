//! Resources, templates of such, and prompts of many servers.

use serde::Serialize;
use serde_json::{Value, json};

use contextweaver_base::order::SortedMap;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::SelectableItem;
use contextweaver_model::json::{JsonMap, nearest};
use contextweaver_text::redact::{SECRET_MASK, mask_secrets, redact_value};
use contextweaver_text::unicode::visible;

use crate::front::{NameTable, safe_line, without_reserved};
use crate::runtime::Gateway;
use crate::servers::Server;

/// Under this key of `_meta` stands the server, where the name or the address alone does not say it.
const SERVER: &str = "contextweaver/server";

/// Stands behind an address that an earlier server has, too, with the name of the server.
const ADDRESS_OF: &str = "contextweaver-server=";

/// Where to ask for a resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct FoundResource {
    /// The servers to be asked, in this order.
    pub servers: Vec<String>,
    /// The address that the first of them has for it.
    pub uri: String,
}

/// Where to ask for a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct FoundPrompt {
    /// The server.
    pub server: String,
    /// The name that the server has for it.
    pub name: String,
}

impl Gateway {
    /// Returns the resources of all servers, each as its server wrote it. An address that a server before has, too, names its server.
    pub fn list_resources(&self) -> Vec<JsonMap> {
        self.list(|server| &server.resources, "uri")
    }

    /// Returns the templates of resources of all servers, as [`Self::list_resources`] does resources.
    pub fn list_resource_templates(&self) -> Vec<JsonMap> {
        self.list(|server| &server.resource_templates, "uriTemplate")
    }

    /// Returns the prompts of all servers. Of those with one name each has its server before it.
    pub fn list_prompts(&self) -> Vec<JsonMap> {
        let names = self.prompt_names();
        let mut listed = Vec::new();
        for (place, server) in self.shown_servers() {
            for (at, prompt) in server.prompts.iter().enumerate() {
                let mut shown = shown(prompt);
                let name = names.name(crate::front::ToolPlace { server: place, tool: at });
                if prompt.get("name").and_then(Value::as_str) != Some(name) {
                    note_server(&mut shown, &server.name);
                }
                shown.insert("name".to_owned(), name.into());
                listed.push(shown);
            }
        }
        listed
    }

    fn list(&self, of: fn(&Server) -> &Vec<Value>, key: &str) -> Vec<JsonMap> {
        let name = |entry: &Value| entry.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        if key == "uri" {
            return self.listed_with(of, key, &self.shared_resources);
        }
        let shared = self.shared_addresses(&|server| of(server).iter().map(name).collect());
        self.listed_with(of, key, &shared)
    }

    fn listed_with(
        &self,
        of: fn(&Server) -> &Vec<Value>,
        key: &str,
        shared: &SortedMap<String, usize>,
    ) -> Vec<JsonMap> {
        let mut listed = Vec::new();
        for (place, server) in self.shown_servers() {
            for entry in of(server) {
                let mut shown = shown(entry);
                let address = entry.get(key).and_then(Value::as_str).unwrap_or_default();
                let first = shared.get(address).copied();
                if first.is_some() {
                    note_server(&mut shown, &server.name);
                }
                if let Some(Value::String(address)) = shown.get_mut(key)
                    && (first.is_some_and(|first| first != place) || address.contains(ADDRESS_OF))
                {
                    *address = address_of(address, &server.name);
                }
                listed.push(shown);
            }
        }
        listed
    }

    /// Addresses that several servers have, with the place of the first of these.
    fn shared_addresses(&self, of: &dyn Fn(&Server) -> Vec<String>) -> SortedMap<String, usize> {
        let mut having: SortedMap<String, (usize, bool)> = SortedMap::new();
        for (place, server) in self.shown_servers() {
            for address in of(server) {
                let known = having.get_or_insert(&address, (place, false));
                known.1 |= known.0 != place;
            }
        }
        let mut shared = SortedMap::new();
        shared.extend(
            having.iter().filter(|(_, (_, is_shared))| *is_shared).map(|(name, (first, _))| (name.clone(), *first)),
        );
        shared
    }

    /// Looks anew which resources and views several servers have under one address.
    pub(crate) fn share_resources(&mut self) {
        let uris = |server: &Server| {
            let listed = server.resources.iter().filter_map(|entry| entry.get("uri")?.as_str());
            listed.chain(server.views.iter().map(String::as_str)).map(str::to_owned).collect()
        };
        self.shared_resources = self.shared_addresses(&uris);
    }

    /// The address by which clients read the view of a tool, where that is another than its server has.
    pub(crate) fn view_address(&self, place: usize, address: &str) -> Option<String> {
        let is_others = self.shared_resources.get(address).is_some_and(|first| *first != place);
        (is_others || address.contains(ADDRESS_OF)).then(|| address_of(address, &self.servers[place].name))
    }

    /// Servers whose resources and prompts clients may see.
    fn shown_servers(&self) -> impl Iterator<Item = (usize, &Server)> {
        let profile = self.options.visibility.as_ref();
        self.servers.iter().enumerate().filter(move |(_, server)| {
            let item = SelectableItem { namespace: server.name.clone(), ..SelectableItem::default() };
            profile.is_none_or(|profile| profile.ruling(&item).0)
        })
    }

    /// Names of prompts, as they are where that is clear.
    fn prompt_names(&self) -> NameTable {
        let names = |server: &Server| {
            server
                .prompts
                .iter()
                .map(|prompt| prompt.get("name").and_then(Value::as_str).unwrap_or_default().to_owned())
                .collect()
        };
        let all: Vec<(&str, Vec<String>)> =
            self.servers.iter().map(|server| (server.name.as_str(), names(server))).collect();
        let all: Vec<(&str, Vec<&str>)> =
            all.iter().map(|(server, names)| (*server, names.iter().map(String::as_str).collect())).collect();
        NameTable::of_any(&all)
    }

    /// Returns which servers to ask for a resource: the one that its address names, else those that list it, those whose templates
    /// may mean it, then all others that can be reached.
    ///
    /// # Errors
    /// `NOT_FOUND` when there is no server that could have it.
    ///
    /// ```
    /// use contextweaver_gateway::{Gateway, GatewayOptions};
    /// use serde_json::json;
    ///
    /// let options = json!({ "servers": [{ "name": "a" }, { "name": "b" }] });
    /// let mut gateway = Gateway::new(GatewayOptions::from_value(options)?);
    /// gateway.set_listing("b", br#"{"tools":[],"resources":[{"uri":"file:///x","name":"x"}]}"#)?;
    /// assert_eq!(gateway.find_resource("file:///x")?.servers, ["b", "a"]);
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn find_resource(&self, uri: &str) -> Result<FoundResource> {
        let (uri, named) = self.named_in(uri);
        let mut found = FoundResource { servers: Vec::new(), uri: uri.to_owned() };
        let listed = |server: &Server| {
            let uris = server.resources.iter().filter_map(|entry| entry.get("uri")?.as_str());
            let uris = uris.chain(server.views.iter().map(String::as_str));
            // A list shows an address without its credentials.
            let mut uris = uris.filter(|known| *known == uri || mask_secrets(known) == uri);
            uris.next().map(str::to_owned)
        };
        let means = |server: &Server| {
            let templates = server.resource_templates.iter().filter_map(|entry| entry.get("uriTemplate")?.as_str());
            templates
                .filter_map(|template| template.split('{').next())
                .any(|start| !start.is_empty() && uri.starts_with(start))
        };
        let shown = || self.shown_servers().filter(|(place, _)| named.is_none_or(|named| named == *place));
        for (_, server) in shown() {
            if let Some(known) = listed(server) {
                if found.servers.is_empty() {
                    found.uri = known;
                }
                found.servers.push(server.name.clone());
            }
        }
        for is_wanted in [&means as &dyn Fn(&Server) -> bool, &|server: &Server| !server.is_unavailable()] {
            for (_, server) in shown().filter(|(_, server)| is_wanted(server)) {
                if !found.servers.contains(&server.name) {
                    found.servers.push(server.name.clone());
                }
            }
        }
        if found.servers.is_empty() {
            let message = format!("no server has the resource `{}`", safe_line(uri));
            return Err(Error::new(ErrorCode::NotFound, message).at("/uri"));
        }
        Ok(found)
    }

    /// Returns an address as its server has it, and the place of the server where the address names one.
    fn named_in<'u>(&self, uri: &'u str) -> (&'u str, Option<usize>) {
        let known = || {
            let at = uri.rfind(ADDRESS_OF).filter(|at| *at > 0)?;
            let name = uri.get(at + ADDRESS_OF.len()..)?;
            let plain = uri.get(..at)?.strip_suffix(['#', '&'])?;
            Some((plain, Some(self.servers.iter().position(|server| server.name == name)?)))
        };
        known().unwrap_or((uri, None))
    }

    /// Returns the server of a prompt, and its name there.
    ///
    /// # Errors
    /// `NOT_FOUND`, with the nearest name as a hint.
    pub fn find_prompt(&self, name: &str) -> Result<FoundPrompt> {
        let names = self.prompt_names();
        let place = names.shown(name).or_else(|| names.qualified(name));
        let found = place.and_then(|place| {
            let (_, server) = self.shown_servers().find(|(at, _)| *at == place.server)?;
            let name = server.prompts.get(place.tool)?.get("name")?.as_str()?;
            Some(FoundPrompt { server: server.name.clone(), name: name.to_owned() })
        });
        found.ok_or_else(|| {
            let error =
                Error::new(ErrorCode::NotFound, format!("no prompt is called `{}`", safe_line(name))).at("/name");
            match nearest(name, names.iter().map(|(name, _)| name)) {
                Some(meant) => error.hint(format!("did you mean `{}`?", safe_line(meant))),
                None => error,
            }
        })
    }
}

/// An entry as its server wrote it, made safe to show.
fn shown(entry: &Value) -> JsonMap {
    let Value::Object(mut map) = redact_value(entry, SECRET_MASK) else { return JsonMap::new() };
    without_reserved(&mut map);
    for key in ["title", "description"] {
        if let Some(Value::String(text)) = map.get_mut(key) {
            *text = visible(text).into_owned();
        }
    }
    map
}

/// An address with its server behind it.
fn address_of(address: &str, server: &str) -> String {
    let joint = if address.contains('#') { "&" } else { "#" };
    [address, joint, ADDRESS_OF, server].concat()
}

fn note_server(shown: &mut JsonMap, server: &str) {
    let meta = shown.get_mut("_meta").map_or_else(|| json!({}), Value::take);
    let mut meta = if let Value::Object(map) = meta { map } else { JsonMap::new() };
    meta.insert(SERVER.to_owned(), server.into());
    shown.insert("_meta".to_owned(), Value::Object(meta));
}
