//! What words tell of a sentence: that it orders, forbids, allows, names, limits.

/// A set of cues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cues(pub u64);

macro_rules! cues {
    ($($name:ident = $bit:literal, $why:literal;)*) => {
        impl Cues {
            $(#[doc = $why] pub const $name: Self = Self(1 << $bit);)*
        }
    };
}

cues! {
    ALWAYS = 0, "At every time, or at none.";
    EACH = 1, "Of all things of a kind.";
    ONLY = 2, "Of nothing else.";
    NOT = 3, "A negation.";
    DONT = 4, "A negation that orders by itself.";
    MUST = 5, "It has to be.";
    SHOULD = 6, "Somebody wants it to be.";
    IF = 7, "In some cases.";
    MAY = 8, "It is allowed, or need not be.";
    DECIDED = 9, "It was settled.";
    MEANS = 10, "What a word stands for.";
    SELF = 11, "Who the speaker is, and what belongs to him.";
    LIMIT = 12, "A bound.";
    FORM = 13, "How something is written.";
    TONGUE = 14, "The name of a language.";
    ME = 15, "The speaker, as one who is asked or told.";
    YOU = 16, "Who is spoken to.";
    DO = 17, "A verb that orders where it opens a clause.";
    TASK = 18, "A verb that orders something to be done now.";
    CHANGE = 19, "It was otherwise before.";
    DROP = 20, "What was said before holds no more.";
    ONCE = 21, "For this time.";
    PAST = 22, "It is told.";
    DOUBT = 23, "It is not sure.";
    ASK = 24, "A word that opens questions.";
    SOURCE = 25, "A text, or one who speaks in it.";
    SAYS = 26, "A text says, or somebody said.";
    POLITE = 27, "A word before an order.";
    HELLO = 28, "A salutation.";
    BYE = 29, "The end of a letter.";
    IS = 30, "A statement of what is.";
    MINE = 32, "What belongs to the speaker.";
    NOW = 33, "What the speaker thinks, feels or wants at the moment.";
    PLACE = 34, "A word that bounds where a number follows.";
    WONDERS = 35, "It asks, without a question mark.";
    TOPIC = 31, "What a sentence may be about, whatever else it tells.";
}

impl Cues {
    /// Tells whether any of these are among them.
    pub const fn has(self, any: Self) -> bool {
        self.0 & any.0 != 0
    }

    /// Returns the set without these.
    pub const fn without(self, less: Self) -> Self {
        Self(self.0 & !less.0)
    }

    /// Returns both sets together.
    pub const fn and(self, more: Self) -> Self {
        Self(self.0 | more.0)
    }
}
