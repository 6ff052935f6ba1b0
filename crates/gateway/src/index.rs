//! The tools of all servers, to be searched and browsed.

use contextweaver_convert::mcp::{IdForm, ToolOptions, mcp_tool_to_selectable, selectable_to_mcp_tool};
use contextweaver_model::SelectableItem;
use contextweaver_routing::Router;
use contextweaver_text::unicode::visible;

use crate::browse::Indexed;
use crate::front::{FrontMode, ToolPlace};
use crate::runtime::Gateway;

/// The tools that may be called, by the ids that models know.
#[derive(Debug)]
pub(crate) struct ToolIndex {
    indexed: Indexed<ToolPlace>,
    /// For what it was made.
    mode: FrontMode,
}

impl ToolIndex {
    /// Returns what chooses among them.
    pub fn router(&mut self) -> &mut Router {
        &mut self.indexed.router
    }

    /// Returns the tool with an id.
    pub fn place(&self, id: &str) -> Option<ToolPlace> {
        self.indexed.ids.get(id).copied()
    }

    /// Returns the ids with their tools, by id.
    pub fn ids(&self) -> impl Iterator<Item = (&str, ToolPlace)> {
        self.indexed.ids.iter().map(|(id, place)| (id.as_str(), *place))
    }
}

impl Gateway {
    /// Returns the tools to be searched, which are put together when they are first asked for.
    ///
    /// In reference mode their ids are canonical, otherwise they are the names that clients see.
    pub(crate) fn index(&mut self) -> &mut ToolIndex {
        let mode = self.mode();
        let index = self.index.take().filter(|index| index.mode == mode);
        let index = index.unwrap_or_else(|| self.build_index(mode));
        self.index.insert(index)
    }

    fn build_index(&self, mode: FrontMode) -> ToolIndex {
        let items = self.usable().into_iter().filter_map(|place| Some((self.searched(place, mode)?, place)));
        ToolIndex { indexed: Indexed::of(items.collect()), mode }
    }

    /// A tool as it is searched: by the words that clients see.
    fn searched(&self, place: ToolPlace, mode: FrontMode) -> Option<SelectableItem> {
        let (server, tool) = self.tool(place)?;
        let item = if mode == FrontMode::Reference {
            // With one server the namespaces are those that its names speak of, as in 0.18; several are told apart.
            let server = (self.servers.len() > 1).then(|| server.name.clone());
            let options = ToolOptions { server, id_form: IdForm::Canonical, ..ToolOptions::default() };
            let back = selectable_to_mcp_tool(&tool.item, None).tool;
            mcp_tool_to_selectable(back, &options).ok()?.item
        } else {
            SelectableItem { id: self.names.table.name(place).to_owned(), ..(*tool.item).clone() }
        };
        Some(SelectableItem { description: visible(&item.description).into_owned(), ..item })
    }
}
