//! One planted bug, as its file describes it.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

/// A bug with the test that must catch it.
#[derive(Deserialize, Clone, PartialEq, Eq, Debug)]
#[serde(deny_unknown_fields)]
pub struct Bug {
    /// The name of the bug's file.
    #[serde(skip)]
    pub name: String,
    /// The fault, in one sentence.
    pub bug: String,
    pub caught_by: Test,
    /// The text that the failure of that test must contain.
    pub says: String,
    #[serde(rename = "edit")]
    pub edits: Vec<Edit>,
}

/// One test function.
#[derive(Deserialize, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[serde(deny_unknown_fields)]
pub struct Test {
    pub package: String,
    /// The name of the test binary; `lib` for the tests beside the code.
    pub binary: String,
    /// The test's name with its modules, as the binary lists it.
    pub case: String,
    /// The only check to run, if the test runs a suite.
    #[serde(default)]
    pub check: String,
}

/// A text that occurs once in a file, and its replacement.
#[derive(Deserialize, Clone, PartialEq, Eq, Debug)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    pub file: String,
    pub find: String,
    pub replace: String,
}

impl Test {
    /// A unique name for the binary.
    pub fn target(&self) -> String {
        format!("{}-{}", self.package, self.binary)
    }

    /// The source of the binary, in the folder of its package, where cargo finds it.
    pub fn sources(&self) -> Vec<String> {
        match self.binary.as_str() {
            "lib" => vec!["src/lib.rs".to_owned()],
            binary => vec![format!("tests/{binary}/main.rs"), format!("tests/{binary}.rs")],
        }
    }
}

impl Bug {
    /// All bugs of a folder, sorted by name.
    pub fn read_all(folder: &Path) -> Result<Vec<Self>> {
        let mut bugs = Vec::new();
        for entry in fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
            bugs.push(Self::read(&entry?.path())?);
        }
        bugs.sort_by(|left, right| left.name.cmp(&right.name));
        Ok(bugs)
    }

    fn read(file: &Path) -> Result<Self> {
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        let mut bug: Self =
            toml::from_str(&text).with_context(|| format!("{} does not describe a bug", file.display()))?;
        bug.name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        ensure!(!bug.edits.is_empty(), "{} edits nothing", file.display());
        ensure!(!bug.says.trim().is_empty(), "{}: `says` is empty, so every failure would count", file.display());
        Ok(bug)
    }

    /// The named bugs, or all bugs.
    pub fn select(bugs: Vec<Self>, names: &[String]) -> Result<Vec<Self>> {
        let known: Vec<&str> = bugs.iter().map(|bug| bug.name.as_str()).collect();
        if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
            bail!("no bug is called `{unknown}`; the bugs are: {}", known.join(", "));
        }
        Ok(bugs.into_iter().filter(|bug| names.is_empty() || names.contains(&bug.name)).collect())
    }
}

impl Edit {
    /// The text of the file with the bug.
    pub fn apply(&self, text: &str) -> Result<String> {
        match text.matches(&self.find).count() {
            1 => Ok(text.replacen(&self.find, &self.replace, 1)),
            0 => bail!("{} no longer contains this text:\n{}", self.file, self.find),
            several => bail!("{} contains this text {several} times instead of once:\n{}", self.file, self.find),
        }
    }
}
