//! The reasons why a name matches.

/// One difference between a requested name and a name that matches it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Reason {
    Typo,
    OtherOrder,
    MissingWords,
    AdditionalWords,
    Inflection,
    Abbreviation,
    Synonym,
    Spelling,
    JoinedWords,
    Initials,
    OtherOwner,
    OtherWord,
    DefaultExport,
    OtherPlace,
}

impl Reason {
    pub const ALL: [Reason; 14] = [
        Reason::Typo,
        Reason::OtherOrder,
        Reason::MissingWords,
        Reason::AdditionalWords,
        Reason::Inflection,
        Reason::Abbreviation,
        Reason::Synonym,
        Reason::Spelling,
        Reason::JoinedWords,
        Reason::Initials,
        Reason::OtherOwner,
        Reason::OtherWord,
        Reason::DefaultExport,
        Reason::OtherPlace,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Reason::Typo => "similar spelling",
            Reason::OtherOrder => "other order of words",
            Reason::MissingWords => "name has fewer words",
            Reason::AdditionalWords => "name has more words",
            Reason::Inflection => "other form of a word",
            Reason::Abbreviation => "abbreviation",
            Reason::Synonym => "synonym",
            Reason::Spelling => "other spelling of a word",
            Reason::JoinedWords => "words joined or split",
            Reason::Initials => "initials",
            Reason::OtherOwner => "other owner",
            Reason::OtherWord => "another word",
            Reason::DefaultExport => "default export of the file",
            Reason::OtherPlace => "defined further below the named place",
        }
    }
}

/// A set of reasons.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Reasons(u16);

impl Reasons {
    pub const NONE: Reasons = Reasons(0);

    #[must_use]
    pub fn with(self, reason: Reason) -> Self {
        Self(self.0 | 1 << reason as u16)
    }

    #[must_use]
    pub fn and(self, others: Reasons) -> Self {
        Self(self.0 | others.0)
    }

    pub fn contains(self, reason: Reason) -> bool {
        self.0 & 1 << reason as u16 != 0
    }

    pub fn iter(self) -> impl Iterator<Item = Reason> {
        Reason::ALL.into_iter().filter(move |reason| self.contains(*reason))
    }
}

impl std::fmt::Display for Reasons {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, reason) in self.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(formatter, "{separator}{}", reason.as_str())?;
        }
        Ok(())
    }
}

impl From<Reason> for Reasons {
    fn from(reason: Reason) -> Self {
        Self::NONE.with(reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_listed_in_order() {
        let reasons = Reasons::from(Reason::Synonym).with(Reason::Typo);
        assert_eq!(reasons.to_string(), "similar spelling, synonym");
        assert_eq!(Reasons::NONE.to_string(), "");
    }
}
