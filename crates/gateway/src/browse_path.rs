//! Paths by which a model browses: `/`, `/github`, `/github/*`.

use contextweaver_base::Result;
use contextweaver_routing::graph::path;

use crate::failure::{GatewayError, GatewayErrorCode, upstream_detail_within};

/// A path of segments below the root.
///
/// A segment is small ASCII letters, digits, `_` and `-`, at most 64, the first of a path beginning with a letter, the
/// others with a letter or a digit. `*` may stand last, for all children.
///
/// ```
/// use contextweaver_gateway::BrowsePath;
///
/// let path = BrowsePath::parse("/github/*")?;
/// assert_eq!((path.segments.as_slice(), path.is_all), (&["github".to_owned(), "*".to_owned()][..], true));
/// assert!(BrowsePath::parse("/github/").is_err());
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowsePath {
    /// The segments, `*` among them; none for the root.
    pub segments: Vec<String>,
    /// Whether the last segment is `*`.
    pub is_all: bool,
}

impl BrowsePath {
    /// Reads a path.
    ///
    /// # Errors
    /// `INVALID_INPUT` for what breaks the grammar.
    pub fn parse(text: &str) -> Result<Self> {
        let segments: Vec<String> = path::parse(text)?.into_iter().map(str::to_owned).collect();
        let is_all = segments.last().is_some_and(|last| last == "*");
        Ok(Self { segments, is_all })
    }

    /// Reads a path that a model wrote; the error is what the model is told.
    ///
    /// # Errors
    /// `PATH_INVALID` for what breaks the grammar.
    pub fn parse_of_model(text: &str) -> std::result::Result<Self, GatewayError> {
        Self::parse(text).map_err(|_| {
            let message = "a path looks like `/`, `/github` or `/github/*`";
            GatewayError::new(GatewayErrorCode::PathInvalid, message).at(upstream_detail_within(text, 80))
        })
    }

    /// Returns the segments that lead to a node, without the `*`.
    pub fn way(&self) -> &[String] {
        &self.segments[..self.segments.len() - usize::from(self.is_all)]
    }
}

#[cfg(test)]
mod tests {
    use super::BrowsePath;

    #[test]
    fn the_grammar_is_strict() {
        let longest = format!("/{}", "a".repeat(64));
        for (text, wanted) in [
            ("/", Some(0)),
            ("/a", Some(1)),
            ("/x/1y", Some(2)),
            ("/*", Some(1)),
            ("/a/b_c/d-e/*", Some(4)),
            (&longest, Some(1)),
            ("", None),
            ("a", None),
            ("/a/", None),
            ("//a", None),
            ("/1", None),
            ("/*/a", None),
            ("/**", None),
            ("/A", None),
            ("/é", None),
            // The reference takes it, as its expression ends with `$`.
            ("/a\n", None),
            (&format!("{longest}a"), None),
        ] {
            let parsed = BrowsePath::parse(text).ok();
            assert_eq!(parsed.as_ref().map(|path| path.segments.len()), wanted, "{text}");
            assert_eq!(parsed.is_some_and(|path| path.is_all), text.ends_with("/*") && wanted.is_some());
        }
        assert_eq!(BrowsePath::parse("/a/*").unwrap().way(), ["a"]);
        assert_eq!(BrowsePath::parse("/").unwrap().way().len(), 0);
        let error = BrowsePath::parse_of_model(&"\u{1b}x".repeat(1_000)).unwrap_err().to_json();
        assert_eq!(error["error"], "PATH_INVALID");
        assert!(error["path"].as_str().unwrap().len() < 100 && !error["path"].as_str().unwrap().contains('\u{1b}'));
    }
}
