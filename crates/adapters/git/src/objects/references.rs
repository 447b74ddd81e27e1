//! Finds the object that a reference names.
//!
//! A lookup opens the file of the reference. If the reference has no file, the lookup reads `packed-refs`
//! once. No directory of references is listed, so the cost does not depend on the number of references that
//! have their own files.

use std::io::{BufRead, BufReader, ErrorKind, Read};

use git2::{ErrorClass, ErrorCode, Oid, Reference};

use super::git_directory::{GitDirectory, is_absent, read_line, unusable};
use crate::regular_file::open_regular;

/// Maximum length of a chain of references. The last reference of the chain names an object.
const MAX_SYMBOLIC: usize = 5;
/// Maximum size of `packed-refs`. A file with a million references has about 100 MB.
const MAX_PACKED_BYTES: u64 = 256 << 20;
/// Maximum length of a line of `packed-refs`.
const MAX_PACKED_LINE_BYTES: u64 = 16 << 10;

/// The object that a reference names, and the name of the last reference on the way to it.
pub(crate) struct NamedObject {
    pub(crate) id: Oid,
    pub(crate) name: String,
}

enum Value {
    Object(Oid),
    Symbolic(String),
}

/// The target of `HEAD`. `None` if its branch has no commit yet.
pub(super) fn head(directory: &GitDirectory) -> Result<Option<NamedObject>, git2::Error> {
    let line = read_line(&directory.own().join("HEAD")).map_err(|error| unusable("HEAD", &error))?;
    match parse(&line).ok_or_else(|| unusable("HEAD", &"it names no branch and no commit"))? {
        Value::Object(id) => Ok(Some(NamedObject { id, name: "HEAD".to_owned() })),
        Value::Symbolic(name) => match find(directory, &name) {
            Err(_) if directory.common().join(&name).is_dir() => Err(unusable(&name, &"it is a directory")),
            Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
            found => found.map(Some),
        },
    }
}

/// The target of a reference. The code of the error is `NotFound` if the reference does not exist.
pub(super) fn find(directory: &GitDirectory, name: &str) -> Result<NamedObject, git2::Error> {
    let mut name = name.to_owned();
    for _ in 0..MAX_SYMBOLIC {
        if !name.starts_with("refs/") || !Reference::is_valid_name(&name) {
            let message = "the name of a reference is not valid";
            return Err(git2::Error::new(ErrorCode::InvalidSpec, ErrorClass::Reference, message));
        }
        match read(directory, &name)? {
            Value::Object(id) => return Ok(NamedObject { id, name }),
            Value::Symbolic(next) => name = next,
        }
    }
    Err(unusable(&name, &"it is part of a chain of too many references"))
}

/// The short name of a reference, for example `main` for `refs/heads/main`. `None` for `HEAD`.
pub(super) fn short_name(name: &str) -> Option<&str> {
    let prefixes = ["refs/heads/", "refs/tags/", "refs/remotes/", "refs/"];
    prefixes.iter().find_map(|prefix| name.strip_prefix(prefix))
}

fn read(directory: &GitDirectory, name: &str) -> Result<Value, git2::Error> {
    let path = directory.common().join(name);
    match read_line(&path) {
        Ok(line) => parse(&line).ok_or_else(|| unusable(name, &"it names no object")),
        Err(error) if is_absent(&error) => packed(directory, name)?.ok_or_else(|| missing(name)),
        // A directory has the name of the reference. It contains references with longer names, or remained
        // after such references were deleted.
        Err(_) if path.is_dir() => packed(directory, name)?.ok_or_else(|| missing(name)),
        Err(error) if error.kind() == ErrorKind::InvalidFilename => {
            packed(directory, name)?.ok_or_else(|| missing(name))
        }
        Err(error) => Err(unusable(name, &error)),
    }
}

fn missing(name: &str) -> git2::Error {
    git2::Error::new(ErrorCode::NotFound, ErrorClass::Reference, format!("the reference `{name}` does not exist"))
}

fn parse(line: &str) -> Option<Value> {
    if let Some(name) = line.strip_prefix("ref:") {
        return Some(Value::Symbolic(name.trim().to_owned()));
    }
    parse_id(line.split_ascii_whitespace().next()?).map(Value::Object)
}

fn parse_id(text: &str) -> Option<Oid> {
    let is_id = text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_id { Oid::from_str(text).ok() } else { None }
}

/// Finds a reference in `packed-refs`.
fn packed(directory: &GitDirectory, name: &str) -> Result<Option<Value>, git2::Error> {
    let broken = |error: std::io::Error| unusable("packed-refs", &error);
    let file = match open_regular(&directory.common().join("packed-refs")) {
        Err(error) if is_absent(&error) => return Ok(None),
        file => file.map_err(broken)?,
    };
    if file.metadata().map_err(broken)?.len() > MAX_PACKED_BYTES {
        return Err(unusable("packed-refs", &format!("it has more than {MAX_PACKED_BYTES} bytes")));
    }
    let mut lines = BufReader::new(file.take(MAX_PACKED_BYTES));
    let mut line = Vec::new();
    loop {
        line.clear();
        if lines.by_ref().take(MAX_PACKED_LINE_BYTES).read_until(b'\n', &mut line).map_err(broken)? == 0 {
            return Ok(None);
        }
        let Ok(text) = std::str::from_utf8(&line) else { continue };
        if let Some((id, found)) = text.trim_end().split_once(' ')
            && found == name
            && let Some(id) = parse_id(id)
        {
            return Ok(Some(Value::Object(id)));
        }
    }
}
