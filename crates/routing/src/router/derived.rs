//! What a router derives from its catalog when it is first asked for: the graph, its pages, names for providers.

use super::{Navigator, Router, RouterOptions};
use crate::Catalog;
use crate::cards::ToolNames;
use crate::catalog::compute_catalog_hash;
use crate::graph::{self, BrowseIndex, BrowsePage, ChoiceGraph, PageOptions};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::SelectableItem;

/// Missing tools that an error names.
const MISSING_NAMED: usize = 10;

impl Router {
    /// Routes over this graph instead of one built from the catalog, until tools are added or removed.
    ///
    /// # Errors
    ///
    /// Fails with `GRAPH_INVALID` when the graph has no root, or when a tool of the catalog is not in it.
    pub fn use_graph(&mut self, graph: ChoiceGraph) -> Result<()> {
        graph.validate()?;
        let missing: Vec<&str> = self
            .catalog
            .items()
            .map(|item| item.id.as_str())
            .filter(|id| !graph.is_item(id))
            .take(MISSING_NAMED)
            .collect();
        if !missing.is_empty() {
            let message = "the graph lacks tools of the catalog";
            return Err(Error::new(ErrorCode::GraphInvalid, message).detail("missing", missing));
        }
        self.forget();
        (self.graph, self.is_given, self.is_outline) = (Some(graph), true, false);
        Ok(())
    }

    /// Returns the graph of [`Router::use_graph`], while it is in use.
    pub fn given_graph(&self) -> Option<&ChoiceGraph> {
        self.graph.as_ref().filter(|_| self.is_given)
    }

    /// Returns the graph over the catalog, which is built when first asked for.
    ///
    /// # Errors
    ///
    /// Fails with `NO_CANDIDATES` when the catalog is empty.
    pub fn graph(&mut self) -> Result<&ChoiceGraph> {
        if self.catalog.is_empty() {
            return Err(Error::new(ErrorCode::NoCandidates, "the catalog is empty"));
        }
        if self.graph.is_none() || self.is_outline {
            let hash = compute_catalog_hash(self.catalog.items());
            let items: Vec<&SelectableItem> = self.catalog.items().collect();
            let graph = graph::build(&items, self.options.tree, &hash)?;
            (self.graph, self.is_outline) = (Some(graph), false);
        }
        self.graph.as_ref().ok_or_else(|| Error::new(ErrorCode::Internal, "the graph was not built"))
    }

    /// Builds what routes need of the graph: neither the hash of the catalog nor labels, which take longer than many routes.
    pub(super) fn build_outline(&mut self) -> Result<()> {
        let items: Vec<&SelectableItem> = self.catalog.items().collect();
        let RouterOptions { navigator, tree, .. } = self.options;
        let graph = match navigator {
            Navigator::Exact => graph::outline(&items, tree)?,
            // A beam reads labels.
            Navigator::Beam => graph::build(&items, tree, "")?,
        };
        (self.graph, self.is_outline) = (Some(graph), true);
        Ok(())
    }

    /// Forgets what was made of tools that have changed.
    pub(super) fn forget(&mut self) {
        (self.graph, self.beam, self.browse, self.names) = (None, None, None, None);
        self.is_given = false;
    }

    /// Returns a page of the graph, or of a namespace, by path.
    ///
    /// # Errors
    ///
    /// Fails with `NOT_FOUND` when nothing is there.
    ///
    /// # Examples
    ///
    /// ```
    /// # use contextweaver_routing::Catalog;
    /// # use serde_json::json;
    /// # let catalog = Catalog::from_value(json!({ "items": [
    /// #     { "id": "files.read", "kind": "tool", "name": "read_file", "description": "Read a file from the disk." },
    /// #     { "id": "mail.send", "kind": "tool", "name": "send_mail", "description": "Send an email to a person." },
    /// # ] }), "")?;
    ///
    /// use contextweaver_routing::graph::PageOptions;
    /// use contextweaver_routing::{Router, RouterOptions};
    ///
    /// let mut router = Router::new(catalog, RouterOptions::default());
    /// let page = router.browse("/", PageOptions::default())?;
    /// assert_eq!(page.children.iter().map(|child| child.items).sum::<u64>(), 2);
    /// let tool = router.browse_id("mail.send", PageOptions::default())?;
    /// assert_eq!(tool.children[0].id.as_deref(), Some("mail.send"));
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn browse(&mut self, path: &str, page: PageOptions) -> Result<BrowsePage> {
        let (graph, browse) = self.pages()?;
        browse.browse(graph, path, page)
    }

    /// Returns the page of a node or a tool by id.
    ///
    /// # Errors
    ///
    /// Fails with `NOT_FOUND`.
    pub fn browse_id(&mut self, id: &str, page: PageOptions) -> Result<BrowsePage> {
        let (graph, browse) = self.pages()?;
        browse.browse_id(graph, id, page)
    }

    fn pages(&mut self) -> Result<(&ChoiceGraph, &BrowseIndex)> {
        self.graph()?;
        let Self { catalog, graph, browse, .. } = self;
        let graph = graph.as_ref().ok_or_else(|| Error::new(ErrorCode::Internal, "the graph was not built"))?;
        let browse = browse.get_or_insert_with(|| {
            let items: Vec<&SelectableItem> = catalog.items().collect();
            BrowseIndex::new(graph, &items)
        });
        Ok((graph, browse))
    }

    /// Returns the names that tools have for providers, and the tools.
    pub fn names(&mut self) -> (&ToolNames, &Catalog) {
        let Self { catalog, names, .. } = self;
        let tools = || catalog.items().map(|item| (item.id.as_str(), item.name.as_str()));
        let names = names.get_or_insert_with(|| ToolNames::new(tools()));
        (names, catalog)
    }
}
