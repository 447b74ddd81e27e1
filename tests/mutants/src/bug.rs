//! The description of a planted bug, which is read from a file in `bugs/`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

/// A bug and the test that must catch it.
#[derive(Deserialize, Clone, PartialEq, Eq, Debug)]
#[serde(deny_unknown_fields)]
pub struct Bug {
    /// The name of the bug's file without its extension.
    #[serde(skip)]
    pub name: String,
    /// One sentence that describes the bug.
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
    /// The name of the test binary; `lib` for unit tests.
    pub binary: String,
    /// The name of the test function with its modules, as the test binary lists it.
    pub case: String,
    /// If the test runs a suite of checks: the name of the only check to run.
    #[serde(default)]
    pub check: String,
}

/// An edit of a file: a text that occurs once in the file, and its replacement.
#[derive(Deserialize, Clone, PartialEq, Eq, Debug)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    pub file: String,
    pub find: String,
    pub replace: String,
}

impl Test {
    /// Returns a unique name for the test binary.
    pub fn target(&self) -> String {
        format!("{}-{}", self.package, self.binary)
    }

    /// Returns the paths, relative to the package, at which the root source of the test binary can be.
    pub fn sources(&self) -> Vec<String> {
        match self.binary.as_str() {
            "lib" => vec!["src/lib.rs".to_owned()],
            binary => ["tests/{}/main.rs", "tests/{}.rs", "../../tests/{}/main.rs"]
                .map(|form| form.replace("{}", binary))
                .to_vec(),
        }
    }
}

impl Bug {
    /// Reads all bugs of a folder, sorted by name.
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
        ensure!(
            !bug.says.trim().is_empty(),
            "`says` in {} is empty, so every failure would be accepted",
            file.display()
        );
        Ok(bug)
    }

    /// Returns the bugs with these names, or all bugs if no name is given.
    pub fn select(bugs: Vec<Self>, names: &[String]) -> Result<Vec<Self>> {
        let known: Vec<&str> = bugs.iter().map(|bug| bug.name.as_str()).collect();
        if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
            bail!("no bug is called `{unknown}`; the bugs are: {}", known.join(", "));
        }
        Ok(bugs.into_iter().filter(|bug| names.is_empty() || names.contains(&bug.name)).collect())
    }
}

impl Edit {
    /// Applies the edit to the text of the file.
    pub fn apply(&self, text: &str) -> Result<String> {
        match text.matches(&self.find).count() {
            1 => Ok(text.replacen(&self.find, &self.replace, 1)),
            0 => bail!("{} no longer contains this text:\n{}", self.file, self.find),
            several => bail!("{} contains this text {several} times instead of once:\n{}", self.file, self.find),
        }
    }
}
