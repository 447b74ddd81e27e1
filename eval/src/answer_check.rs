//! Checks that the answers of the questions exist in the sources.

use std::path::Path;

use crate::questions::{ExpectedAnswer, QuestionFile};

/// Fails if the sources do not contain the path or the lines of an answer. The error lists all faults.
pub(crate) fn check_answers(file: &QuestionFile, sources: &Path) -> anyhow::Result<()> {
    let mut faults = Vec::new();
    for question in &file.questions {
        let of_question = question.answers.iter().filter_map(|answer| Some((answer, fault(answer, sources)?)));
        faults.extend(of_question.map(|(answer, fault)| format!("{}: {} {fault}", question.id, answer.path)));
    }
    let (num, id) = (faults.len(), &file.source.id);
    anyhow::ensure!(faults.is_empty(), "{num} answers about {id} are wrong:\n{}", faults.join("\n"));
    Ok(())
}

fn fault(answer: &ExpectedAnswer, sources: &Path) -> Option<String> {
    let path = sources.join(&answer.path);
    let Some([first, last]) = answer.lines else {
        return (!path.exists()).then(|| "does not exist".to_owned());
    };
    let Ok(bytes) = std::fs::read(&path) else { return Some("is not a readable file".to_owned()) };
    let num_lines = String::from_utf8_lossy(&bytes).lines().count();
    let is_range = 0 < first && first <= last && last as usize <= num_lines;
    (!is_range).then(|| format!("has {num_lines} lines, but the answer has the lines {first}-{last}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_must_exist() {
        let directory = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(directory.path().join("src")).expect("created");
        std::fs::write(directory.path().join("src/a.rs"), "one\ntwo\nthree").expect("written");
        let check = |path: &str, lines, expect: Option<&str>| {
            let answer = ExpectedAnswer { path: path.to_owned(), lines, grade: 2 };
            assert_eq!(fault(&answer, directory.path()).as_deref(), expect, "{path} {lines:?}");
        };
        check("src/a.rs", Some([1, 3]), None);
        check("src/a.rs", None, None);
        check("src", None, None);
        check("src/b.rs", None, Some("does not exist"));
        check("src/b.rs", Some([1, 1]), Some("is not a readable file"));
        check("src", Some([1, 1]), Some("is not a readable file"));
        check("src/a.rs", Some([3, 4]), Some("has 3 lines, but the answer has the lines 3-4"));
        check("src/a.rs", Some([3, 2]), Some("has 3 lines, but the answer has the lines 3-2"));
        check("src/a.rs", Some([0, 1]), Some("has 3 lines, but the answer has the lines 0-1"));
    }

    #[test]
    fn all_faults_are_listed() {
        let source = "[source]\nid = \"one\"\nregistry = \"go\"\npackage = \"p\"\nversion = \"v1\"\nlicense = \"MIT\"\n\
                      language = \"go\"\ncheckout = true\n";
        let question = "[[question]]\nid = \"one-1\"\nkind = \"symbol\"\ntext = \"t\"\n";
        let answer = |path: &str| format!("[[question.answer]]\npath = \"{path}\"\ngrade = 2\n");
        let text = [source, question, &answer("a.go"), &answer("b.go")].concat();
        let file: QuestionFile = toml::from_str(&text).expect("a question file");
        let directory = tempfile::tempdir().expect("a directory");
        let error = check_answers(&file, directory.path()).expect_err("faults").to_string();
        assert_eq!(error, "2 answers about one are wrong:\none-1: a.go does not exist\none-1: b.go does not exist");
    }
}
