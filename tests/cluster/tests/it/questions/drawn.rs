//! Draws the subjects of questions from the definitions that the repositories contain at present.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use rand::prelude::*;
use rand::rngs::StdRng;

/// The languages in which definitions are searched, by file extension.
const LANGUAGES: [(&str, &str); 8] = [
    ("py", "python"),
    ("rs", "rust"),
    ("go", "go"),
    ("ts", "typescript"),
    ("md", "markdown"),
    ("java", "java"),
    ("rb", "ruby"),
    ("kt", "kotlin"),
];
const DEFINITION: &str = "^(#+|(.*[^a-z])?(def|fn|func|fun|function|class)) +[A-Za-z_]{4}";
const WORDS: [&str; 7] = ["def ", "fn ", "func ", "fun ", "function ", "class ", "# "];

/// Names of definitions that have callers. These definitions are in the repositories written by hand, because
/// generated code has few calls.
const CALLED: [&str; 3] = ["to_cents", "charge_card", "place_order"];

struct Definition {
    repository: String,
    path: String,
    line: usize,
    name: String,
}

/// The definitions of some repositories, and a random generator that draws from them. The same seed and the
/// same definitions give the same draws.
pub(super) struct Drawn {
    rng: StdRng,
    definitions: Vec<Definition>,
}

impl Drawn {
    pub(super) fn of(repositories: &[(String, &Path)], seed: u64) -> Result<Self> {
        let mut definitions = Vec::new();
        for (name, root) in repositories {
            definitions.extend(definitions_of(name, root)?);
        }
        Ok(Self { rng: StdRng::seed_from_u64(seed), definitions })
    }

    /// The values of the placeholders. All values except `{number}`, `{other}` and `{called}` are properties
    /// of one definition, so that filters match the definition that is searched.
    pub(super) fn values(&mut self) -> Result<Vec<(&'static str, String)>> {
        let Definition { repository, path, line, name } =
            self.definitions.choose(&mut self.rng).context("the repositories contain no definitions")?;
        let other = &self.definitions.choose(&mut self.rng).context("the repositories contain no definitions")?.name;
        let (folder, file) = path.rsplit_once('/').unwrap_or((".", path));
        let extension = file.rsplit('.').next().unwrap_or_default();
        let language = LANGUAGES.iter().find(|(known, _)| *known == extension).map_or("", |(_, language)| *language);
        Ok(vec![
            ("{symbol}", name.clone()),
            ("{words}", name.replace('_', " ")),
            ("{camel}", camel(name)),
            ("{typo}", format!("{}{}", &name[..2], &name[3..])),
            ("{repo}", repository.clone()),
            ("{path}", path.clone()),
            ("{folder}", folder.to_owned()),
            ("{module}", folder.replace('/', ".")),
            ("{file}", file.to_owned()),
            ("{extension}", extension.to_owned()),
            ("{language}", language.to_owned()),
            ("{line}", line.to_string()),
            ("{last}", (line + 5).to_string()),
            ("{number}", self.rng.random_range(1..1_000_000).to_string()),
            ("{other}", other.clone()),
            ("{called}", (*CALLED.choose(&mut self.rng).context("the list of called names is empty")?).to_owned()),
        ])
    }
}

/// Turns `load_user_7` into `loadUser7`.
fn camel(name: &str) -> String {
    let mut parts = name.split('_');
    let mut camel = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (first, rest) = part.split_at(part.len().min(1));
        camel.push_str(&first.to_uppercase());
        camel.push_str(rest);
    }
    camel
}

fn definitions_of(repository: &str, root: &Path) -> Result<Vec<Definition>> {
    let mut grep = Command::new("git");
    grep.arg("-C").arg(root).args(["grep", "-nE", DEFINITION, "HEAD", "--"]);
    grep.args(LANGUAGES.map(|(extension, _)| format!("*.{extension}")));
    let found = grep.output()?;
    ensure!(found.status.success(), "git grep failed: {}", String::from_utf8_lossy(&found.stderr));
    let lines = String::from_utf8_lossy(&found.stdout).into_owned();
    Ok(lines.lines().filter_map(|line| definition(repository, line)).collect())
}

/// Parses a line of the form `HEAD:PATH:LINE:TEXT`.
fn definition(repository: &str, found: &str) -> Option<Definition> {
    let mut parts = found.splitn(4, ':').skip(1);
    let (path, line, text) = (parts.next()?, parts.next()?.parse().ok()?, parts.next()?);
    let rest = WORDS.iter().find_map(|word| text.split_once(word))?.1;
    let name: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    let (repository, path) = (repository.to_owned(), path.to_owned());
    (name.len() > 3).then_some(Definition { repository, path, line, name })
}
