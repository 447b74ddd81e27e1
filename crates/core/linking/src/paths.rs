//! Functions for paths inside the repository.

/// Resolves `path` relative to `directory`, including `.` and `..`. `None` if the result is the root or
/// outside the root.
pub(crate) fn join(directory: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = directory.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

/// The folder that contains this folder. `None` for the root.
pub(crate) fn parent(directory: &str) -> Option<&str> {
    if directory.is_empty() {
        return None;
    }
    Some(directory.rsplit_once('/').map_or("", |(parent, _)| parent))
}

/// Whether `directory` contains `path`. The root contains every path.
pub(crate) fn is_inside(path: &str, directory: &str) -> bool {
    directory.is_empty() || path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

/// The number of leading parts that are the same in both paths.
pub(crate) fn num_shared_parts(a: &str, b: &str) -> usize {
    a.split('/').zip(b.split('/')).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joining_stays_inside_the_root() {
        let check = |directory: &str, path: &str, expect: Option<&str>| {
            assert_eq!(join(directory, path).as_deref(), expect, "{directory} {path}");
        };
        check("src/app", "./util", Some("src/app/util"));
        check("src/app", "../lib/x.ts", Some("src/lib/x.ts"));
        check("", "a/../b", Some("b"));
        check("a", "../../b", None);
        check("a", "..", None);
    }

    #[test]
    fn parents_and_shared_parts_are_found() {
        assert_eq!(parent("a/b"), Some("a"));
        assert_eq!(parent("a"), Some(""));
        assert_eq!(parent(""), None);
        assert!(is_inside("a/b.rs", "a") && is_inside("x", "") && !is_inside("ab/c", "a"));
        assert_eq!(num_shared_parts("a/b/c", "a/b/d/e"), 2);
    }
}
