//! Reads all contents of an index directory as uncompressed bytes: files, the zstd frames in files, and the
//! rows of databases.

use std::fs;
use std::io::Read;
use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

/// The first bytes of every zstd frame.
const FRAME: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The contents of all files below a directory, by path. A database is included twice: as the bytes of its
/// file, and as its rows.
pub(super) fn contents(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(contents(&path));
            continue;
        }
        let bytes = fs::read(&path).expect("a file");
        found.push((path.display().to_string(), with_frames(&bytes)));
        if path.extension().is_some_and(|extension| extension == "db") {
            found.push((format!("{} (rows)", path.display()), rows(&path)));
        }
    }
    found
}

/// The bytes, followed by the decompressed content of all zstd frames in them.
fn with_frames(bytes: &[u8]) -> Vec<u8> {
    let mut found = bytes.to_vec();
    let mut at = 0;
    while let Some(next) = bytes[at..].windows(FRAME.len()).position(|window| window == FRAME) {
        at += next;
        let mut decoder = zstd::stream::read::Decoder::new(&bytes[at..]).expect("a decoder").single_frame();
        // An error is ignored, because not every occurrence of these four bytes begins a frame. The readable
        // part of a damaged frame is included.
        let _ = decoder.read_to_end(&mut found);
        at += FRAME.len();
    }
    found
}

/// All texts and blobs in all tables of a database. A blob may be longer than a database page. The zstd frame
/// in such a blob is complete only in the row, not in the bytes of the file.
fn rows(path: &Path) -> Vec<u8> {
    let database = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).expect("a database");
    let mut names = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").expect("a query");
    let names: Vec<String> = names.query_map([], |row| row.get(0)).expect("tables").flatten().collect();
    let mut found = Vec::new();
    for name in names {
        let mut query = database.prepare(&format!("SELECT * FROM \"{name}\"")).expect("a table");
        let num_columns = query.column_count();
        let mut rows = query.query([]).expect("rows");
        while let Some(row) = rows.next().expect("a row") {
            for column in 0..num_columns {
                if let ValueRef::Text(bytes) | ValueRef::Blob(bytes) = row.get_ref(column).expect("a value") {
                    found.extend_from_slice(&with_frames(bytes));
                    found.push(b'\n');
                }
            }
        }
    }
    found
}
