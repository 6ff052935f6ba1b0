//! Where in a tool something stands, and what is found there.

use super::super::finding::CatalogFinding;
use contextweaver_model::json::pointer;

/// A place in a tool. Its path is written when something is found there: keys may be as long as the tool, and stand in
/// the path of everything below them.
pub(super) struct Place<'a> {
    above: Option<&'a Place<'a>>,
    step: PlaceStep<'a>,
}

enum PlaceStep<'a> {
    Key(&'a str),
    Index(usize),
}

impl<'a> Place<'a> {
    /// Returns the place of a field.
    pub fn of(field: &'a str) -> Self {
        Self { above: None, step: PlaceStep::Key(field) }
    }

    /// Returns the place of a member.
    pub fn below(&'a self, key: &'a str) -> Self {
        Self { above: Some(self), step: PlaceStep::Key(key) }
    }

    /// Returns the place of an element.
    pub fn at(&'a self, index: usize) -> Self {
        Self { above: Some(self), step: PlaceStep::Index(index) }
    }

    /// Tells whether it is a field with a name.
    pub fn is(&self, field: &str) -> bool {
        self.above.is_none() && matches!(self.step, PlaceStep::Key(key) if key == field)
    }

    /// Returns the place as a JSON pointer.
    pub fn path(&self) -> String {
        let above = self.above.map_or_else(String::new, Place::path);
        match self.step {
            PlaceStep::Key(key) => pointer(&above, key),
            PlaceStep::Index(index) => format!("{above}/{index}"),
        }
    }
}

/// What is found of one tool, as far as there is room for it.
pub(super) struct ToolFindings<'a> {
    found: &'a mut Vec<CatalogFinding>,
    room: usize,
    /// Room for what is only a heuristic.
    hints: usize,
}

/// Heuristic findings about one tool: an author who writes many must not crowd out what is certain.
const MAX_HINTS: usize = 8;

impl<'a> ToolFindings<'a> {
    pub fn new(found: &'a mut Vec<CatalogFinding>, room: usize) -> Self {
        Self { found, room, hints: MAX_HINTS }
    }

    /// Adds a finding; it is not made where there is no room for it.
    pub fn add(&mut self, finding: impl FnOnce() -> CatalogFinding) {
        if self.room > 0 {
            self.room -= 1;
            self.found.push(finding());
        }
    }

    /// Adds a finding that is only a heuristic.
    pub fn hint(&mut self, finding: impl FnOnce() -> CatalogFinding) {
        if self.hints > 0 {
            self.hints -= 1;
            self.found.push(finding());
        }
    }

    /// Adds a finding.
    pub fn push(&mut self, finding: CatalogFinding) {
        self.add(|| finding);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_written_from_the_field_down() {
        let schema = Place::of("args_schema");
        let (properties, tags) = (schema.below("properties"), Place::of("tags"));
        assert_eq!(properties.below("a/b").path(), "/args_schema/properties/a~1b");
        assert_eq!(tags.at(3).path(), "/tags/3");
        assert!(tags.is("tags") && !properties.is("properties"));
    }

    /// A server may write thousands of findings into one tool, each with a key of megabytes in its path.
    #[test]
    fn what_has_no_room_is_not_made() {
        let (mut found, mut made) = (Vec::new(), 0);
        let mut findings = ToolFindings::new(&mut found, 2);
        for _ in 0..1000 {
            findings.add(|| {
                made += 1;
                CatalogFinding::new("schema-no-type", "t", "")
            });
        }
        assert_eq!((found.len(), made), (2, 2));
    }
}
