//! Defines the arguments of the commands that answer questions.

use cairn_gateway::questions::{GraphQuestion, GrepQuestion};
use clap::{Args, Subcommand, ValueEnum};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum Tests {
    #[default]
    Include,
    Exclude,
    Only,
}

#[derive(Args, Debug)]
pub struct SearchArguments {
    /// Words, a name or a question.
    pub query: String,
    /// Name or glob of a repository, or `all`. Default: the repository of this directory, otherwise all
    /// repositories. Repeatable.
    #[arg(long = "repo", alias = "repository", value_name = "NAME")]
    pub repositories: Vec<String>,
    /// Only files in this language, e.g. `python`. Repeatable.
    #[arg(long, value_name = "LANGUAGE")]
    pub language: Vec<String>,
    /// File, folder (all files below it) or glob. A file name or glob without `/` matches in any folder.
    /// Repeatable.
    #[arg(long, value_name = "GLOB")]
    pub path: Vec<String>,
    /// Module prefix, e.g. `fisio.imports`. Repeatable.
    #[arg(long, value_name = "PREFIX")]
    pub module: Vec<String>,
    /// Kind of chunk: function, method, class, section … Repeatable.
    #[arg(long, value_name = "KIND")]
    pub kind: Vec<String>,
    /// Include tests in the search, exclude tests, or search only tests.
    #[arg(long, value_enum, default_value_t)]
    pub tests: Tests,
    /// Tag that every result must have: `.py` (the file name extension), `indexed`, `repository`, or a tag
    /// from `.cairn.yaml`. Repeatable; a result must have all given tags.
    #[arg(long, value_name = "TAG")]
    pub tag: Vec<String>,
    /// Only code that changed since a day (2026-01-31) or within an age (36h, 7d, 2w).
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// Type of the question: symbol, relationship, flow, pattern or concept. By default, the words of the
    /// question determine the type.
    #[arg(long, value_name = "TYPE", value_parser = ["symbol", "relationship", "flow", "pattern", "concept"])]
    pub query_type: Option<String>,
    /// Maximum number of results, at most 100. Default: 10; 20 for relationships, 15 for flows, 5 for
    /// patterns.
    #[arg(long, short = 'n')]
    pub limit: Option<usize>,
    /// Maximum number of tokens of the answer, at most 200000 with `--server`.
    #[arg(long, default_value_t = 8000)]
    pub max_tokens: usize,
    /// The cursor of an earlier answer, to show its next page.
    #[arg(long)]
    pub cursor: Option<String>,
    /// Explain how the question was interpreted, and each score.
    #[arg(long)]
    pub explain: bool,
    /// The kind of result: auto, symbol, file, directory or filename.
    #[arg(long, visible_alias = "type", value_name = "TYPE")]
    #[arg(value_parser = ["auto", "symbol", "file", "directory", "filename"])]
    pub target_type: Option<String>,
    /// A path near the wanted code. Files and definitions near this path come first.
    #[arg(long, value_name = "PATH")]
    pub context_path: Option<String>,
    /// Do not find files whose names are only similar to the searched name.
    #[arg(long)]
    pub exact_filename: bool,
    /// Compare the searched name only with the last part of each path.
    #[arg(long)]
    pub filename_only: bool,
}

#[derive(Args, Debug)]
pub struct GrepArguments {
    /// Regular expression, or a text with -F.
    pub pattern: String,
    /// Search for the pattern literally.
    #[arg(long, short = 'F')]
    pub fixed_strings: bool,
    /// Ignore the difference between upper and lower case.
    #[arg(long, short = 'i')]
    pub ignore_case: bool,
    /// Only matches that start and end at the boundaries of words.
    #[arg(long, short = 'w')]
    pub word_regexp: bool,
    /// Matches may contain line feeds.
    #[arg(long, short = 'U')]
    pub multiline: bool,
    /// Number of lines to show after each hit.
    #[arg(long, short = 'A', value_name = "LINES")]
    pub after_context: Option<usize>,
    /// Number of lines to show before each hit.
    #[arg(long, short = 'B', value_name = "LINES")]
    pub before_context: Option<usize>,
    /// Number of lines to show before and after each hit, at most 20.
    #[arg(long, short = 'C', value_name = "LINES", default_value_t = 0)]
    pub context: usize,
    /// Name or glob of a repository, or `all`. Default: the repository of this directory, otherwise all
    /// repositories. Repeatable.
    #[arg(long = "repo", alias = "repository", value_name = "NAME")]
    pub repositories: Vec<String>,
    /// Only files in this language, e.g. `python`. Repeatable.
    #[arg(long, value_name = "LANGUAGE")]
    pub language: Vec<String>,
    /// File, folder (all files below it) or glob. A file name or glob without `/` matches in any folder.
    /// Repeatable.
    #[arg(long, value_name = "GLOB")]
    pub path: Vec<String>,
    /// Include tests in the search, exclude tests, or search only tests.
    #[arg(long, value_enum, default_value_t)]
    pub tests: Tests,
    /// Maximum number of hits, at most 1000.
    #[arg(long, short = 'n', default_value_t = GrepQuestion::DEFAULT_LIMIT)]
    pub limit: usize,
    /// Maximum number of tokens of the answer, at most 200000 with `--server`.
    #[arg(long, default_value_t = 20000)]
    pub max_tokens: usize,
    /// The cursor of an earlier answer, to show its next page.
    #[arg(long)]
    pub cursor: Option<String>,
}

#[derive(Args, Debug)]
pub struct RelationArguments {
    /// Symbol (`name`, `Class.method`, `path#name`), file, directory, module or package.
    pub name: String,
    /// Name or glob of a repository, or `all`. Default: the repository of this directory, otherwise all
    /// repositories. Repeatable.
    #[arg(long = "repo", alias = "repository", value_name = "NAME")]
    pub repositories: Vec<String>,
    /// If several definitions have the name, the definition nearest to this file is used.
    #[arg(long, value_name = "PATH")]
    pub context_path: Option<String>,
    /// Maximum number of edges, at most 500 with `--server`.
    #[arg(long, short = 'n', default_value_t = GraphQuestion::DEFAULT_LIMIT)]
    pub limit: usize,
}

#[derive(Subcommand, Debug)]
pub enum GraphCommand {
    /// Callers of a symbol.
    #[command(alias = "caller")]
    Callers(RelationArguments),
    /// Symbols that a symbol calls.
    #[command(alias = "calls")]
    Callees(RelationArguments),
    /// All code that a symbol or file imports, references or depends on.
    #[command(alias = "dependencies")]
    Deps(RelationArguments),
    /// All code that imports, references or depends on a symbol or file.
    Dependents(RelationArguments),
    /// Base classes and derived classes.
    #[command(alias = "inheritance")]
    Inherits(RelationArguments),
    /// Show a random sample of edges of a resolution class, for review.
    Sample {
        /// exact, import, heuristic or ambiguous.
        #[arg(long, value_name = "CLASS")]
        class: String,
        /// Number that determines the sample. The same number gives the same sample.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Maximum number of edges, at most 500 with `--server`.
        #[arg(short = 'n', default_value_t = 20)]
        count: usize,
        /// Kinds of edges, e.g. calls, references, extends. Default: all kinds.
        #[arg(long = "kind", value_name = "KIND")]
        kinds: Vec<String>,
        /// Name or glob of a repository, or `all`. Default: all repositories. Repeatable.
        #[arg(long = "repo", alias = "repository", value_name = "NAME")]
        repositories: Vec<String>,
    },
}

#[derive(Subcommand, Debug)]
pub enum RunsCommand {
    /// Show one run with its result and errors.
    Show {
        /// The id of the run, as `cairn runs` shows it.
        #[arg(value_name = "ID")]
        run: String,
        /// Repository of the run; required for older runs.
        #[arg(long = "repo", alias = "repository", value_name = "NAME")]
        repository: Option<String>,
    },
    /// Cancel the unfinished runs and pending sync requests of one repository or of all repositories.
    /// Published generations are kept.
    Cancel {
        /// Name of the repository. Default: all repositories.
        repository: Option<String>,
        /// Cancel only the run with this id. `cairn runs` shows the ids.
        #[arg(long, value_name = "ID")]
        run: Option<String>,
    },
}
