//! The tools of all servers, as a search sees them.

use contextweaver_model::SelectableItem;
use contextweaver_text::unicode::visible;

use super::Gateway;
use crate::front::ToolPlace;
use crate::index::ToolIndex;

impl Gateway {
    /// Returns the tools to be searched, which are put together when they are first asked for.
    pub(crate) fn index(&mut self) -> &mut ToolIndex {
        let index = self.index.take().unwrap_or_else(|| self.build_index());
        self.index.insert(index)
    }

    fn build_index(&self) -> ToolIndex {
        let items = self.usable().into_iter().filter_map(|place| Some((self.searched(place)?, place)));
        ToolIndex::of(items.collect())
    }

    /// A tool as it is searched: by the words that clients see.
    fn searched(&self, place: ToolPlace) -> Option<SelectableItem> {
        let (server, tool) = self.tool(place)?;
        let description = visible(tool.description()).into_owned();
        let mut item =
            SelectableItem { id: self.names.table.name(place).to_owned(), description, ..(*tool.item).clone() };
        if let Some(said) = server.override_of(tool.name()) {
            item.name.clone_from(said.name.as_ref().unwrap_or(&tool.item.name));
            item.args_schema = said.shown_schema(&tool.item.args_schema);
        }
        Some(item)
    }
}
