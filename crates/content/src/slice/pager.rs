//! Fills a page with whole units (lines, rows, elements, hits) under a limit of tokens.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::found::CutUnit;
use super::index::SliceIndex;
use super::json::{push_escaped, push_quoted, squeeze};
use super::selector::Selector;
use crate::tree::JsonTree;
use contextweaver_text::tokens::Estimator;

/// One unit of a text.
pub(super) struct PageUnit<'a> {
    /// What stands before it and is never cut, such as the key of a member.
    pub lead: String,
    pub body: UnitBody<'a>,
}

/// What a unit shows, which decides how it is shown in parts when it is larger than a page.
pub(super) enum UnitBody<'a> {
    /// Text, shown as it is.
    Text(Cow<'a, str>),
    /// JSON, shown as it was written; in parts, as JSON strings that hold parts of it.
    Json(Cow<'a, str>),
    /// A part of a JSON string, its escapes resolved.
    Quoted(String),
}

impl<'a> PageUnit<'a> {
    pub fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self { lead: String::new(), body: UnitBody::Text(text.into()) }
    }

    pub fn json(raw: impl Into<Cow<'a, str>>) -> Self {
        Self { lead: String::new(), body: UnitBody::Json(raw.into()) }
    }
}

impl UnitBody<'_> {
    /// Returns what is shown when all of it fits.
    fn whole(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Json(raw) => squeeze(raw),
            Self::Quoted(text) => {
                let mut out = String::new();
                push_quoted(&mut out, text);
                Cow::Owned(out)
            }
        }
    }

    /// Returns what is shown in parts when it does not.
    fn plain(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Quoted(text) => Cow::Borrowed(text),
            Self::Json(raw) if raw.starts_with('"') => {
                JsonTree::parse(raw).map_or(Cow::Borrowed(raw), |tree| tree.root().text().into_owned().into())
            }
            Self::Json(raw) => squeeze(raw),
        }
    }

    const fn is_json(&self) -> bool {
        !matches!(self, Self::Text(_))
    }
}

/// What stands around the units of every page.
pub(super) struct PageFrame<'a> {
    /// Left out when it takes more than half the page and is not part of the syntax.
    pub open: Cow<'a, str>,
    pub joint: &'static str,
    pub close: &'static str,
}

impl PageFrame<'_> {
    pub const LINES: Self = PageFrame { open: Cow::Borrowed(""), joint: "\n", close: "" };
    pub const ARRAY: Self = PageFrame { open: Cow::Borrowed("["), joint: ", ", close: "]" };
    pub const OBJECT: Self = PageFrame { open: Cow::Borrowed("{"), joint: ", ", close: "}" };
}

/// How much fits, in quarter tokens.
#[derive(Clone, Copy)]
pub(super) struct PageBudget<'e> {
    pub estimator: &'e Estimator,
    pub quarters: u64,
}

impl<'e> PageBudget<'e> {
    pub fn new(estimator: &'e Estimator, max_tokens: Option<u64>) -> Self {
        // An estimate is the whole part of the quarters over four.
        Self { estimator, quarters: max_tokens.map_or(u64::MAX, |max| max.saturating_mul(4).saturating_add(3)) }
    }

    pub fn cost(&self, text: &str) -> u64 {
        if self.quarters == u64::MAX { 0 } else { self.estimator.quarters(text) }
    }

    /// Tells whether a text is so long that it costs more than this, whatever it says: a character has at most four bytes
    /// and costs at least a quarter. A unit of many pages would otherwise be weighed for each of them.
    fn is_far_over(&self, text: &str, quarters: u64) -> bool {
        self.quarters < u64::MAX && text.len() as u64 / 4 > quarters
    }

    /// Tells whether a text costs at most this much.
    fn holds(&self, text: &str, quarters: u64) -> bool {
        !self.is_far_over(text, quarters) && self.cost(text) <= quarters
    }

    /// Returns the longest prefix that costs at most this much.
    pub fn prefix<'t>(&self, text: &'t str, quarters: u64) -> &'t str {
        let mut used = 0;
        let mut buffer = [0; 4];
        let end = text.char_indices().find(|(_, ch)| {
            used += self.cost(ch.encode_utf8(&mut buffer));
            used > quarters
        });
        &text[..end.map_or(text.len(), |(at, _)| at)]
    }
}

impl PageBudget<'_> {
    /// Returns the longest suffix that fits.
    pub fn suffix<'t>(&self, text: &'t str) -> &'t str {
        let mut used = 0;
        let mut buffer = [0; 4];
        let start = text.char_indices().rev().find(|(_, ch)| {
            used += self.cost(ch.encode_utf8(&mut buffer));
            used > self.quarters
        });
        &text[start.map_or(0, |(at, ch)| at + ch.len_utf8())..]
    }
}

pub(super) struct Page {
    pub text: String,
    /// Units that stand on it whole.
    pub taken: usize,
    /// Characters already shown of the unit after them.
    pub offset: usize,
}

/// One request for a page of a text.
pub(super) struct Pager<'r> {
    pub text: &'r str,
    pub selector: &'r Selector,
    pub budget: PageBudget<'r>,
    pub index: &'r mut SliceIndex,
}

impl Pager<'_> {
    /// Fills a page with units; `show` makes the one with a number. The first is shown from the character `offset` of the
    /// selector on; it alone may be cut, when it is larger than a page.
    pub fn fill<'t>(
        &mut self,
        span: Range<usize>,
        frame: &PageFrame,
        show: &mut dyn FnMut(usize) -> PageUnit<'t>,
    ) -> Page {
        let (budget, offset) = (self.budget, self.selector.range.offset);
        let mut page = Page { text: String::new(), taken: 0, offset: 0 };
        let is_left_out = frame.close.is_empty() && !budget.holds(&frame.open, budget.quarters / 2);
        let open = if is_left_out { "" } else { &*frame.open };
        let mut left = budget.quarters.saturating_sub(budget.cost(open) + budget.cost(frame.close));
        page.text.push_str(open);
        for place in span {
            self.index.read += 1;
            let first = page.taken == 0;
            let resumed = (first && offset > 0).then(|| self.cut(place, show));
            let unit = if resumed.is_none() { show(place) } else { PageUnit::text("") };
            let (lead, whole) = match &resumed {
                Some(cut) => (cut.lead.as_str(), Cow::Borrowed(cut.after(self.text, offset))),
                None => (unit.lead.as_str(), unit.body.whole()),
            };
            let start = page.text.len();
            if !first {
                page.text.push_str(frame.joint);
            }
            page.text.push_str(lead);
            let cost = if budget.is_far_over(&whole, left) {
                u64::MAX
            } else {
                match &resumed {
                    Some(cut) if cut.is_json => push_quoted(&mut page.text, &whole),
                    _ => page.text.push_str(&whole),
                }
                budget.cost(&page.text[start..])
            };
            if cost <= left {
                left -= cost;
                page.taken += 1;
                continue;
            }
            page.text.truncate(start);
            if first {
                let cut = match resumed {
                    Some(cut) => cut,
                    None => self.keep_cut(place, unit),
                };
                page.text.push_str(&cut.lead);
                let left = left.saturating_sub(budget.cost(&cut.lead));
                let shown = part(&mut page.text, cut.after(self.text, offset), cut.is_json, left, budget);
                if shown == 0 {
                    page.text.truncate(start);
                } else {
                    page.offset = offset + shown;
                }
            }
            break;
        }
        if page.offset == 0 {
            self.index.cut.forget();
        }
        page.text.push_str(frame.close);
        page
    }

    /// Returns a unit that was shown in part before.
    fn cut<'t>(&mut self, place: usize, show: &mut dyn FnMut(usize) -> PageUnit<'t>) -> Arc<CutUnit> {
        match self.index.cut.known(&self.selector.of_unit(place)) {
            Some(known) => known,
            None => self.keep_cut(place, show(place)),
        }
    }

    fn keep_cut(&mut self, place: usize, unit: PageUnit) -> Arc<CutUnit> {
        let cut = CutUnit::new(self.text, unit.lead, unit.body.is_json(), unit.body.plain());
        self.index.read += cut.len() as u64;
        self.index.cut.keep(self.selector.of_unit(place), cut)
    }
}

/// Appends as much of a text as fits; returns how many characters of it.
fn part(out: &mut String, rest: &str, is_json: bool, left: u64, budget: PageBudget) -> usize {
    if !is_json {
        let shown = budget.prefix(rest, left);
        out.push_str(shown);
        return shown.chars().count();
    }
    let mut left = left.saturating_sub(budget.cost("\"\""));
    let mut count = 0;
    let mut quoted = String::new();
    let mut end = 0;
    for (at, ch) in rest.char_indices() {
        quoted.clear();
        push_escaped(&mut quoted, ch);
        let cost = budget.cost(&quoted);
        if cost > left {
            break;
        }
        left -= cost;
        count += 1;
        end = at + ch.len_utf8();
    }
    if count > 0 {
        push_quoted(out, &rest[..end]);
    }
    count
}
