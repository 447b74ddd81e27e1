//! Families of languages.

/// A family is a group of languages whose files can refer to each other's definitions. The numbers are part
/// of stored keys, so the order must not change.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Family {
    Python,
    /// JavaScript and TypeScript.
    Script,
    Go,
    Rust,
    /// Java, Kotlin and Scala.
    Jvm,
    /// C and C++.
    C,
    CSharp,
    Ruby,
    Php,
    Swift,
    Lua,
    Bash,
    Elixir,
    Haskell,
    Zig,
    /// Languages whose names are not linked.
    Other,
}

impl Family {
    /// Every family except [`Family::Other`].
    pub const LINKED: &[Family] = &[
        Family::Python,
        Family::Script,
        Family::Go,
        Family::Rust,
        Family::Jvm,
        Family::C,
        Family::CSharp,
        Family::Ruby,
        Family::Php,
        Family::Swift,
        Family::Lua,
        Family::Bash,
        Family::Elixir,
        Family::Haskell,
        Family::Zig,
    ];
}
