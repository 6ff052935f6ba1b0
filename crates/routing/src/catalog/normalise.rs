//! Evening out spaces, tags and empty descriptions.

use serde::Serialize;

use contextweaver_base::order::{self, SortedMap};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::SelectableItem;
use contextweaver_text::quote::quote;
use contextweaver_text::unicode::{is_space, trim};

/// Options of [`normalise`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NormaliseOptions {
    /// Whether a blank or repeated id is an error; otherwise the tool is left out and reported.
    pub strict: bool,
    /// Whether tags become lower case.
    pub lowercase_tags: bool,
}

impl Default for NormaliseOptions {
    fn default() -> Self {
        Self { strict: false, lowercase_tags: true }
    }
}

/// Counts of what [`normalise`] changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct NormaliseReport {
    /// Number of tools given.
    pub items_processed: usize,
    /// Tools whose list of tags changed in any way.
    pub tag_dedup_count: usize,
    /// Tools whose name became their description.
    pub description_filled_count: usize,
    /// Tools whose name, description or namespace lost white space.
    pub whitespace_normalized_count: usize,
    /// Ids of the tools that were left out: blank or repeated.
    pub invalid_ids: Vec<String>,
}

impl NormaliseReport {
    /// Returns the sum of the counts.
    pub fn changed_count(&self) -> usize {
        self.tag_dedup_count + self.description_filled_count + self.whitespace_normalized_count
    }
}

/// Makes runs of white space one space, trims, sorts and joins tags, and fills empty descriptions with the name.
///
/// Ids are never rewritten and everything else stays. Of tools with the same id, the first is kept.
///
/// # Errors
///
/// With [`NormaliseOptions::strict`], fails with `INVALID_INPUT` for a blank id and `DUPLICATE_ID` for a repeated one.
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
/// use contextweaver_model::SelectableItem;
/// use contextweaver_routing::{NormaliseOptions, normalise};
///
/// let mut items: Vec<SelectableItem> = catalog.items().cloned().collect();
/// items[0].description = "  Read   a file. ".to_owned();
/// let (items, report) = normalise(&items, NormaliseOptions::default())?;
/// assert_eq!(items[0].description, "Read a file.");
/// assert_eq!(report.whitespace_normalized_count, 1);
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn normalise(
    items: &[SelectableItem],
    options: NormaliseOptions,
) -> Result<(Vec<SelectableItem>, NormaliseReport)> {
    let mut report = NormaliseReport { items_processed: items.len(), ..NormaliseReport::default() };
    let mut seen: SortedMap<&str, ()> = SortedMap::new();
    let mut out = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let blank = trim(&item.id).is_empty();
        if blank || seen.insert(&item.id, ()).is_some() {
            if options.strict {
                let (code, what) =
                    if blank { (ErrorCode::InvalidInput, "blank") } else { (ErrorCode::DuplicateId, "taken") };
                let message = format!("the id {} is {what}", quote(&item.id));
                return Err(Error::new(code, message).at(format!("/{index}/id")));
            }
            report.invalid_ids.push(item.id.clone());
            continue;
        }
        out.push(even_out(item, options, &mut report));
    }
    Ok((out, report))
}

fn even_out(item: &SelectableItem, options: NormaliseOptions, report: &mut NormaliseReport) -> SelectableItem {
    let (name, description) = (collapse(&item.name), collapse(&item.description));
    let namespace = trim(&item.namespace).trim_end_matches('.').to_owned();
    let lower = |tag: &str| if options.lowercase_tags { tag.to_lowercase() } else { tag.to_owned() };
    let mut tags: Vec<String> =
        item.tags.iter().map(|tag| trim(tag)).filter(|tag| !tag.is_empty()).map(lower).collect();
    order::sort_distinct(&mut tags);
    let spaced = name != item.name || description != item.description || namespace != item.namespace;
    report.whitespace_normalized_count += usize::from(spaced);
    report.tag_dedup_count += usize::from(tags != item.tags);
    report.description_filled_count += usize::from(description.is_empty());
    let description = if description.is_empty() { name.clone() } else { description };
    SelectableItem { name, description, tags, namespace, ..item.clone() }
}

/// Makes runs of white space one space and trims.
pub(crate) fn collapse(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split(is_space).filter(|word| !word.is_empty()) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}
