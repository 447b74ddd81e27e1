//! The compiled rules of one repository. The rules decide by name, kind and size whether a path is skipped.

use cairn_domain::{Digest, Digester, EntryKind, Outcome, Reason, RepoPath};
use cairn_redaction::{Message, quoted};

use crate::attributes::{GeneratedMarks, marks};
use crate::ignore_file::{IgnoreFiles, UnusableLines};
use crate::pattern_lines::{PatternCost, pattern_lines};
use crate::patterns::Patterns;
use crate::{FileSizeLimit, GeneratedPolicy, InvalidPattern, InvalidRules, RuleFile, defaults};

/// The input of `Rules::compile`: the settings of the repository combined with the settings of the caller.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RuleSettings {
    /// An empty list includes everything.
    pub include: Vec<String>,
    /// `exclude` has precedence over `include`.
    pub exclude: Vec<String>,
    /// Includes paths that are excluded by default. `include_override` has no effect on paths that other
    /// rules exclude.
    pub include_override: Vec<String>,
    /// Every `.cairnignore` of the tree.
    pub ignore_files: Vec<RuleFile>,
    /// Every `.gitattributes` of the tree.
    pub attribute_files: Vec<RuleFile>,
    /// In bytes. `None` selects the default of 1 MiB. 0 selects the hard cap of 10 MiB.
    pub max_file_size: Option<u64>,
    pub generated: GeneratedPolicy,
}

impl RuleSettings {
    /// The cost of compiling the patterns of the `.cairnignore` and `.gitattributes` files.
    pub fn pattern_cost(&self) -> PatternCost {
        let ignored = self.ignore_files.iter();
        let ignored = ignored.map(|file| PatternCost::of(pattern_lines(&file.text).into_iter().map(|line| line.1)));
        let marked = self.attribute_files.iter().map(|file| PatternCost::of(marks(&file.text).map(|mark| mark.0)));
        ignored.chain(marked).fold(PatternCost::default(), PatternCost::and)
    }
}

/// The reason for skipping a path, and the rule that gives this reason. The rule answers the question
/// "why is this file not in the index?".
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Skip {
    pub reason: Reason,
    pub rule: SkipRule,
}

/// The rule that hides a path.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum SkipRule {
    Submodule,
    Symlink,
    SensitiveName,
    Exclude { pattern: String },
    IgnoreFile { file: String, line: usize, pattern: String },
    DefaultExclude { name: &'static str },
    NoInclude,
    TooLarge { limit_bytes: u64 },
}

impl SkipRule {
    /// The rule as a clause for users. Text from the repository is quoted as untrusted.
    pub fn message(&self) -> Message {
        let message = Message::default();
        match self {
            Self::Submodule => message.and("submodules are recorded, but their content is never read"),
            Self::Symlink => message.and("symbolic links are recorded, but they are not followed"),
            Self::SensitiveName => message.and("files with this name may contain secrets and are never read"),
            Self::Exclude { pattern } => message.and("`exclude` contains the pattern ").and(quoted(pattern)),
            Self::IgnoreFile { file, line, pattern } => {
                let place = message.and("line ").and(*line).and(" of ").and(quoted(file));
                place.and(" is the pattern ").and(quoted(pattern))
            }
            Self::DefaultExclude { name } => {
                message.and("`").and(*name).and("` is excluded by default; `include_override` can include it again")
            }
            Self::NoInclude => message.and("`include` is set, and none of its patterns matches"),
            Self::TooLarge { limit_bytes } => {
                message.and("it is larger than `max_file_size`, which is ").and(*limit_bytes).and(" bytes")
            }
        }
    }
}

/// The compiled rules. `is_sensitive` recognises the names of files that must never be read.
pub struct Rules {
    include: Patterns,
    exclude: Patterns,
    include_override: Patterns,
    ignore_files: IgnoreFiles,
    generated_marks: GeneratedMarks,
    unusable: Vec<UnusableLines>,
    limit: FileSizeLimit,
    generated: GeneratedPolicy,
    is_sensitive: Box<dyn Fn(&RepoPath) -> bool + Send + Sync>,
    is_stopped: Box<dyn Fn() -> bool + Send + Sync>,
    digest: Digest,
}

impl Rules {
    pub fn compile(
        settings: &RuleSettings,
        is_sensitive: impl Fn(&RepoPath) -> bool + Send + Sync + 'static,
    ) -> Result<Self, InvalidRules> {
        let mut patterns = Vec::new();
        let include = keep_faults(Patterns::compile("include", &settings.include), &mut patterns);
        let exclude = keep_faults(Patterns::compile("exclude", &settings.exclude), &mut patterns);
        let lifted = Patterns::compile("include_override", &settings.include_override);
        let include_override = keep_faults(lifted, &mut patterns);
        let mut unusable = Vec::new();
        let ignore_files = IgnoreFiles::compile(&settings.ignore_files, &mut unusable);
        let generated_marks = GeneratedMarks::compile(&settings.attribute_files, &mut unusable);
        let limit = settings.max_file_size.map_or(Ok(FileSizeLimit::default()), FileSizeLimit::new);
        match (include, exclude, include_override, limit) {
            (Some(include), Some(exclude), Some(include_override), Ok(limit)) => Ok(Self {
                include,
                exclude,
                include_override,
                ignore_files,
                generated_marks,
                unusable,
                limit,
                generated: settings.generated,
                is_sensitive: Box::new(is_sensitive),
                is_stopped: Box::new(|| false),
                digest: digest(settings, limit),
            }),
            (.., limit) => Err(InvalidRules { patterns, file_size: limit.err() }),
        }
    }

    /// Ends each decision early after `is_stopped` returns true. Such a decision is not valid. Without this
    /// function, malicious rule files could delay the decision about one path by minutes.
    #[must_use]
    pub fn stopped_by(self, is_stopped: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { is_stopped: Box::new(is_stopped), ..self }
    }

    /// `Some` if the path is skipped regardless of its content.
    pub fn decide_path(&self, path: &RepoPath, kind: EntryKind, size_bytes: u64) -> Option<Outcome> {
        self.skip(path, kind, size_bytes).map(|skip| Outcome::Skipped(skip.reason))
    }

    /// The same decision as that of `decide_path`, with the rule that caused the decision. The tests below
    /// have the same order as the reasons in the documentation of this crate.
    pub fn skip(&self, path: &RepoPath, kind: EntryKind, size_bytes: u64) -> Option<Skip> {
        let of = |reason, rule| Some(Skip { reason, rule });
        match kind {
            EntryKind::Submodule => return of(Reason::Submodule, SkipRule::Submodule),
            EntryKind::Symlink => return of(Reason::Symlink, SkipRule::Symlink),
            EntryKind::File | EntryKind::Executable => {}
        }
        if (self.is_sensitive)(path) {
            return of(Reason::Sensitive, SkipRule::SensitiveName);
        }
        if let Some(rule) = self.excluded_by(path.as_str()) {
            return of(Reason::Excluded, rule);
        }
        if !self.include.is_empty() && self.include.find(path.as_str()).is_none() {
            return of(Reason::NotIncluded, SkipRule::NoInclude);
        }
        if size_bytes > self.limit.bytes() {
            return of(Reason::TooLarge, SkipRule::TooLarge { limit_bytes: self.limit.bytes() });
        }
        None
    }

    fn excluded_by(&self, path: &str) -> Option<SkipRule> {
        if let Some(pattern) = self.exclude.find(path) {
            return Some(SkipRule::Exclude { pattern: pattern.to_owned() });
        }
        if let Some(ignored) = self.ignore_files.find(path, &*self.is_stopped) {
            let (file, pattern) = (ignored.file.to_owned(), ignored.pattern.to_owned());
            return Some(SkipRule::IgnoreFile { file, line: ignored.line, pattern });
        }
        let name = defaults::find(path)?;
        let brought_back = self.include_override.find(path).is_some();
        (!brought_back).then_some(SkipRule::DefaultExclude { name })
    }

    pub fn max_file_size(&self) -> FileSizeLimit {
        self.limit
    }

    /// Whether the owners of the repository marked the file as generated. `None` without a mark.
    pub(crate) fn is_marked_generated(&self, path: &RepoPath) -> Option<bool> {
        self.generated_marks.find(path.as_str(), &*self.is_stopped)
    }

    /// Lines of `.cairnignore` and `.gitattributes` files that cannot be used. These lines have no effect.
    pub fn unusable_lines(&self) -> &[UnusableLines] {
        &self.unusable
    }

    pub fn generated_policy(&self) -> GeneratedPolicy {
        self.generated
    }

    /// The digest changes if and only if the effective settings or `RULES_VERSION` change. When the digest
    /// changes, a run decides again about every file. The digest does not include the inputs of
    /// `is_sensitive`; the caller adds these inputs.
    pub fn digest(&self) -> Digest {
        self.digest
    }
}

fn keep_faults<T>(compiled: Result<T, Vec<InvalidPattern>>, faults: &mut Vec<InvalidPattern>) -> Option<T> {
    match compiled {
        Ok(value) => Some(value),
        Err(mut found) => {
            faults.append(&mut found);
            None
        }
    }
}

/// Increase this number when the default excludes change, or when the checks of the content give different
/// decisions.
const RULES_VERSION: u64 = 3;

fn sorted(files: &[RuleFile]) -> Vec<&RuleFile> {
    let mut files: Vec<&RuleFile> = files.iter().collect();
    files.sort_by(|left, right| left.path.cmp(&right.path));
    files
}

fn digest(settings: &RuleSettings, limit: FileSizeLimit) -> Digest {
    // Lines that do not mark generated files are left out, because they change often and have no effect on
    // the rules.
    let marked = sorted(&settings.attribute_files);
    let marked = marked.into_iter().map(|file| (file.path.as_str(), marks(&file.text).collect::<Vec<_>>()));
    let marked: Vec<_> = marked.filter(|(_, marks)| !marks.is_empty()).collect();
    Digester::new("inventory-rules")
        .number(RULES_VERSION)
        .list(&settings.include, |digester, pattern| digester.text(pattern))
        .list(&settings.exclude, |digester, pattern| digester.text(pattern))
        .list(&settings.include_override, |digester, pattern| digester.text(pattern))
        .list(&sorted(&settings.ignore_files), |digester, file| digester.text(file.path.as_str()).text(&file.text))
        .list(&marked, |digester, (path, marks)| {
            digester.text(path).list(marks, |digester, (pattern, mark)| digester.text(pattern).number(*mark as u64))
        })
        .number(limit.bytes())
        .flag(settings.generated == GeneratedPolicy::KeepLowWeight)
        .digest()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    fn compile(settings: &RuleSettings) -> Rules {
        Rules::compile(settings, |path: &RepoPath| path.file_name() == ".env").expect("valid rules")
    }

    fn check(settings: &RuleSettings, cases: &[(&str, Option<Reason>)]) {
        let rules = compile(settings);
        for (path, expect) in cases {
            let path = RepoPath::parse(path).expect("path");
            let outcome = rules.decide_path(&path, EntryKind::File, 10);
            assert_eq!(outcome, expect.map(Outcome::Skipped), "{path} under {settings:?}");
        }
    }

    #[test]
    fn empty_include_selects_all_but_default_excludes() {
        use Reason::*;
        let cases = [
            ("src/lib.rs", None),
            ("node_modules/a.js", Some(Excluded)),
            ("a/vendor/b.go", Some(Excluded)),
            ("a.min.js", Some(Excluded)),
            ("Cargo.lock", Some(Excluded)),
            (".env", Some(Sensitive)),
            ("node_modules/.env", Some(Sensitive)),
        ];
        check(&RuleSettings::default(), &cases);
    }

    #[test]
    fn exclude_has_priority_and_override_affects_only_defaults() {
        use Reason::*;
        let settings = RuleSettings {
            include: strings(&["*.go", "vendor/**"]),
            exclude: strings(&["vendor/bad/**", "*_gen.go"]),
            include_override: strings(&["vendor/**", "*_gen.go", ".env"]),
            ignore_files: vec![RuleFile {
                path: RepoPath::parse(".cairnignore").expect("path"),
                text: "private/\n".to_owned(),
            }],
            ..RuleSettings::default()
        };
        let cases = [
            ("main.go", None),
            ("vendor/a/b.go", None),
            ("vendor/a/README", None),
            ("vendor/bad/b.go", Some(Excluded)),
            ("x_gen.go", Some(Excluded)),
            ("a.py", Some(NotIncluded)),
            ("dist/a.go", Some(Excluded)),
            ("private/a.go", Some(Excluded)),
            (".env", Some(Sensitive)),
        ];
        check(&settings, &cases);
    }

    #[test]
    fn kind_is_checked_first_and_size_last() {
        let rules = compile(&RuleSettings { max_file_size: Some(100), ..RuleSettings::default() });
        let check = |path: &str, kind: EntryKind, size: u64, expect: Option<Reason>| {
            let path = RepoPath::parse(path).expect("path");
            assert_eq!(rules.decide_path(&path, kind, size), expect.map(Outcome::Skipped), "{path}");
        };
        check(".env", EntryKind::Symlink, 1, Some(Reason::Symlink));
        check("vendor/x", EntryKind::Submodule, 0, Some(Reason::Submodule));
        check("a.rs", EntryKind::File, 100, None);
        check("a.rs", EntryKind::Executable, 101, Some(Reason::TooLarge));
        check("dist/a.rs", EntryKind::File, 101, Some(Reason::Excluded));
    }

    #[test]
    fn stop_ends_a_decision() {
        let stars = |number: usize| format!("{}z{number}{}\n", "a/**/".repeat(80), "/**/a".repeat(80));
        let path = RepoPath::parse(".cairnignore").expect("path");
        let file = RuleFile { path, text: (0..200).map(stars).collect() };
        let rules = compile(&RuleSettings { ignore_files: vec![file], ..RuleSettings::default() });
        let num_checks = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let counted = std::sync::Arc::clone(&num_checks);
        let next = move || counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let rules = rules.stopped_by(move || next() >= 10);
        let path = RepoPath::parse(&format!("{}b/a", "a/".repeat(1_000))).expect("path");
        assert_eq!(rules.decide_path(&path, EntryKind::File, 1), None);
        // Without the stop, this decision takes minutes.
        assert!(num_checks.load(std::sync::atomic::Ordering::Relaxed) < 2_000);
    }

    #[test]
    fn decision_names_its_rule() {
        let ignore_file = RuleFile {
            path: RepoPath::parse("lib/.cairnignore").expect("path"),
            text: "# generated\n\ngen/\n".to_owned(),
        };
        let settings =
            RuleSettings { exclude: strings(&["docs/"]), ignore_files: vec![ignore_file], ..RuleSettings::default() };
        let check = |path: &str, expect: &str| {
            let path = RepoPath::parse(path).expect("path");
            let skip = compile(&settings).skip(&path, EntryKind::File, 2_000_000).expect("skipped");
            assert_eq!(skip.rule.message().as_str(), expect);
        };
        check("docs/a.md", "`exclude` contains the pattern «docs/»");
        check("lib/gen/a.rs", "line 3 of «lib/.cairnignore» is the pattern «gen/»");
        check("dist/a.js", "`dist` is excluded by default; `include_override` can include it again");
        check("a.js", "it is larger than `max_file_size`, which is 1048576 bytes");
    }

    #[test]
    fn every_fault_is_reported_at_once() {
        let settings = RuleSettings {
            include: strings(&["["]),
            exclude: strings(&["a", "{"]),
            include_override: strings(&["!x"]),
            max_file_size: Some(11_000_000),
            ..RuleSettings::default()
        };
        let error = Rules::compile(&settings, |_: &RepoPath| false).err().expect("refused");
        let fields: Vec<&str> = error.patterns.iter().map(|fault| fault.field).collect();
        assert_eq!(fields, ["include", "exclude", "include_override"]);
        let size = error.file_size.expect("size");
        assert_eq!((size.max_allowed, size.provided), (10_485_760, 11_000_000));
        assert!(error.to_string().contains("invalid pattern «{» in `exclude`"), "{error}");
    }

    #[test]
    fn digest_changes_with_the_settings() {
        let base = RuleSettings::default();
        let of = |settings: &RuleSettings| compile(settings).digest();
        assert_eq!(of(&base), of(&RuleSettings { max_file_size: Some(1_048_576), ..base.clone() }));
        assert_ne!(of(&base), of(&RuleSettings { max_file_size: Some(1), ..base.clone() }));
        assert_ne!(of(&base), of(&RuleSettings { exclude: strings(&["a"]), ..base.clone() }));
        assert_ne!(
            of(&RuleSettings { include: strings(&["a"]), ..base.clone() }),
            of(&RuleSettings { exclude: strings(&["a"]), ..base.clone() })
        );
        assert_ne!(of(&base), of(&RuleSettings { generated: GeneratedPolicy::KeepLowWeight, ..base.clone() }));
        let attributes = |text: &str| {
            let path = RepoPath::parse("src/.gitattributes").expect("path");
            of(&RuleSettings { attribute_files: vec![RuleFile { path, text: text.to_owned() }], ..base.clone() })
        };
        assert_eq!(of(&base), attributes("*.png binary\n"));
        assert_ne!(of(&base), attributes("*.c linguist-generated\n"));
        assert_ne!(attributes("*.c -linguist-generated\n"), attributes("*.c linguist-generated\n"));
    }
}
