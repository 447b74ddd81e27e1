//! Creates the table of document frequencies that is part of the program.
//!
//! ```text
//! cargo run --release -p cairn-ranking --example count_document_frequencies -- OUT.bin MIN_COUNT PATH...
//! ```
//!
//! A PATH that ends with `.jsonl` has one document per line, as a JSON object. The text of the document
//! consists of the values of the string fields `name`, `doc`, `code` and `text`. Other files are cut into
//! windows of 40 lines. The entries of a directory are read in the order of their names.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use cairn_ranking::FrequencyCounter;

const WINDOW_LINES: usize = 40;
const EXTENSIONS: [&str; 24] = [
    "py", "go", "rs", "js", "ts", "tsx", "jsx", "java", "c", "h", "cc", "cpp", "hpp", "cs", "rb", "php", "kt", "swift",
    "scala", "lua", "sh", "ex", "hs", "md",
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(out), Some(min_count)) = (arguments.next(), arguments.next()) else {
        return Err("usage: count_document_frequencies OUT.bin MIN_COUNT PATH...".into());
    };
    let mut counter = FrequencyCounter::default();
    for path in arguments {
        count(Path::new(&path), &mut counter)?;
    }
    let table = counter.finish(min_count.parse()?);
    eprintln!(
        "{} documents with {} terms on average, {} bytes",
        counter.num_documents(),
        counter.average_length(),
        table.len()
    );
    fs::write(out, table)?;
    Ok(())
}

fn count(path: &Path, counter: &mut FrequencyCounter) -> Result<(), Box<dyn Error>> {
    if path.is_dir() {
        let mut entries: Vec<PathBuf> =
            fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
        entries.sort();
        for entry in entries {
            let is_source =
                entry.extension().is_some_and(|extension| EXTENSIONS.iter().any(|known| extension == *known));
            if is_source || (entry.is_dir() && !entry.is_symlink()) {
                count(&entry, counter)?;
            }
        }
        return Ok(());
    }
    let Ok(text) = fs::read_to_string(path) else { return Ok(()) };
    if path.extension().is_some_and(|extension| extension == "jsonl") {
        for line in text.lines() {
            counter.add(&document(line)?);
        }
    } else {
        let lines: Vec<&str> = text.lines().collect();
        for window in lines.chunks(WINDOW_LINES) {
            counter.add(&window.join("\n"));
        }
    }
    Ok(())
}

fn document(line: &str) -> Result<String, serde_json::Error> {
    let value: serde_json::Value = serde_json::from_str(line)?;
    let fields = ["name", "doc", "code", "text"].iter().filter_map(|field| value[field].as_str());
    Ok(fields.collect::<Vec<_>>().join("\n"))
}
