//! Reading a log of which some texts are withheld.

use crate::callbacks::Outcome;
use crate::manager::ContextManager;
use crate::sensitivity::classified;
use contextweaver_model::ContextItem;

impl ContextManager {
    /// Reads something of which the texts of some items are withheld. `read` is told the log, and what says whether an item, of
    /// the log or not, is at or above the sensitivity floor after classification.
    ///
    /// ```
    /// use contextweaver_context::{Classifier, ContextManager, ManagerOptions};
    /// use contextweaver_model::{ContextItem, ItemKind};
    ///
    /// let classifier = Classifier::Heuristic { pii: true };
    /// let mut manager = ContextManager::new(ManagerOptions { classifier, ..ManagerOptions::default() });
    /// manager.ingest(ContextItem::new("u1", ItemKind::UserTurn, "My SSN is 123-45-6789."))?;
    /// let withheld = manager.judged(|log, is_withheld| log.iter().map(is_withheld).collect::<Vec<_>>());
    /// assert_eq!(withheld.done(), Some(vec![true]));
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn judged<T>(&mut self, read: impl FnOnce(&[ContextItem], &dyn Fn(&ContextItem) -> bool) -> T) -> Outcome<T> {
        self.answers.reset();
        let floor = self.options.policy.sensitivity_floor;
        let is_withheld = |item: &ContextItem| classified(item, &self.options, &self.answers) >= floor;
        let found = read(self.events.items(), &is_withheld);
        if self.answers.is_waiting() {
            return Outcome::Need(self.answers.take_needs());
        }
        self.answers.settle(self.events.len());
        Outcome::Done(found)
    }
}
