//! The caller's vectors of tools.

use super::Router;
use crate::index::ToolIndex;
use contextweaver_base::{Error, ErrorCode, Result};

impl Router {
    /// Gives tools the caller's vectors, to be compared with that of a query: all of them, or none when one is refused.
    ///
    /// # Errors
    ///
    /// Fails with `NOT_FOUND` for an id that no tool has, and `INVALID_INPUT` for a vector of another length or with
    /// numbers that are not finite.
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
    /// use contextweaver_routing::{RouteOptions, Router, RouterOptions};
    ///
    /// let mut router = Router::new(catalog, RouterOptions::default());
    /// router.set_embeddings(&[("files.read".to_owned(), vec![1.0, 0.0]), ("mail.send".to_owned(), vec![0.0, 1.0])])?;
    /// let options = RouteOptions { query_embedding: Some(vec![0.1, 0.9]), ..RouteOptions::default() };
    /// let result = router.route("tell Ada", &options)?;
    /// assert_eq!(result.candidate_ids[0], "mail.send");
    /// assert_eq!(result.trace.retriever_engine, "embedding+bm25f");
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn set_embeddings(&mut self, vectors: &[(String, Vec<f32>)]) -> Result<()> {
        let Some(index) = &mut self.index else {
            return Err(Error::new(ErrorCode::InvalidInput, "the beam navigator knows no vectors"));
        };
        let mut changed = index.clone();
        for (at, (id, vector)) in vectors.iter().enumerate() {
            changed.set_embedding(id, vector).map_err(|error| {
                let path = format!("/vectors/{at}{}", error.path());
                error.under(path)
            })?;
        }
        *index = changed;
        Ok(())
    }

    /// Returns the vectors of tools that have one, by id, scaled to length 1 as they are compared.
    pub fn embeddings(&self) -> impl Iterator<Item = (&str, &[f32])> {
        self.index.iter().flat_map(ToolIndex::vectors)
    }

    /// Gives tools the vectors that [`Router::embeddings`] returned, to the bit.
    ///
    /// # Errors
    ///
    /// Fails as [`Router::set_embeddings`].
    pub fn restore_embeddings(&mut self, vectors: Vec<(String, Vec<f32>)>) -> Result<()> {
        let Some(index) = &mut self.index else { return Ok(()) };
        vectors.into_iter().try_for_each(|(id, vector)| index.restore_vector(&id, vector))
    }
}
