//! Checks that this build can read the golden files, which contain the bytes of every version of every format
//! that is sent or stored.
//!
//! The build that introduces a version writes `tests/golden/<name>.v<version>` once. The file is never
//! changed. Every later build must read it, and a build that writes this version must write the same bytes.
//! `WRITE_GOLDEN=1` writes missing files but never changes an existing file, so changed bytes require a new
//! version.

mod values;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use bytes::Bytes;
use cairn_domain::{FileFacts, NodeRecord, Outline, PatternRecord, SourceText, TermCounts};
use cairn_wire::{
    ArtifactKind, Decode, Encode, Job, LinkGroup, LinkState, LinkSummary, Manifest, PackReader, PackWriter, PartReport,
    Plan, Reader, RequestSettings, RunResult, SkipRules, decode, encode,
};

/// One format and the value in its golden files.
struct Format {
    /// The first part of the names of the golden files: `<name>.v<version>`.
    name: &'static str,
    /// The version that this build writes.
    version: u8,
    write: fn() -> Vec<u8>,
    /// Reads the bytes. Returns `Err` if the bytes are refused, and `Ok(false)` if the bytes contain a
    /// different value.
    read: fn(&[u8]) -> Result<bool, String>,
}

fn artifact<T: Decode>(kind: ArtifactKind, bytes: &[u8]) -> Result<T, String> {
    decode(kind, bytes).map_err(|error| error.to_string())
}

fn pack<T: Encode>(kind: ArtifactKind, records: &[T]) -> Vec<u8> {
    let mut writer = PackWriter::new(kind);
    for record in records {
        writer.push(record);
    }
    writer.finish()
}

fn unpack<T: Decode>(kind: ArtifactKind, bytes: &[u8]) -> Result<Vec<T>, String> {
    let mut reader = PackReader::open(kind, Bytes::copy_from_slice(bytes)).map_err(|error| error.to_string())?;
    let records: Result<Vec<T>, _> = (0..reader.num_records()).map(|slot| reader.read(slot)).collect();
    records.map_err(|error| error.to_string())
}

/// Returns the records that the graph store saves, one after the other and without an envelope.
fn graph_records() -> Vec<u8> {
    let mut bytes = Vec::new();
    values::nodes().encode(&mut bytes);
    values::patterns().encode(&mut bytes);
    bytes
}

fn read_graph_records(bytes: &[u8]) -> Result<bool, String> {
    let mut reader = Reader(bytes);
    let nodes = Vec::<NodeRecord>::decode(&mut reader).map_err(|error| error.to_string())?;
    let patterns = Vec::<PatternRecord>::decode(&mut reader).map_err(|error| error.to_string())?;
    Ok(nodes == values::nodes() && patterns == values::patterns() && reader.0.is_empty())
}

/// Reads a manifest. Version 1 has no digest of the inputs, version 2 has no term counts, and version 3 has
/// no rules.
fn read_manifest(bytes: &[u8]) -> Result<bool, String> {
    let found = artifact::<Manifest>(ArtifactKind::Manifest, bytes)?;
    let version_3 = Manifest { skip_rules: SkipRules::default(), ..values::manifest() };
    let version_2 = Manifest { terms: Vec::new(), ..version_3.clone() };
    let version_1 = Manifest { inputs_digest: None, ..version_2.clone() };
    Ok([values::manifest(), version_3, version_2, version_1].contains(&found))
}

/// Reads a plan. Version 1 has no field for the refusal.
fn read_plan(bytes: &[u8]) -> Result<bool, String> {
    let expected = match bytes.get(6) {
        Some(1) => Plan { refusal: None, ..values::plan() },
        _ => values::plan(),
    };
    Ok(artifact::<Plan>(ArtifactKind::Plan, bytes)? == expected)
}

/// Reads a part report. Version 1 does not contain the count of parsed chunks, and version 2 does not contain
/// the count of parsed records.
fn read_part_report(bytes: &[u8]) -> Result<bool, String> {
    let found = PartReport::from_json(text(bytes)?)?;
    let version_2 = PartReport { records_parsed: 0, ..values::part_report() };
    let version_1 = PartReport { chunks_parsed: 0, ..version_2.clone() };
    Ok([values::part_report(), version_2, version_1].contains(&found))
}

/// Reads a run result. Version 1 does not contain the errors of settings files.
fn read_run_result(bytes: &[u8]) -> Result<bool, String> {
    let found = json::<RunResult>(bytes)?;
    let version_1 = RunResult { settings_errors: Vec::new(), num_settings_errors: 0, ..values::run_result() };
    Ok(found == values::run_result() || found == version_1)
}

fn link_group() -> Vec<u8> {
    let mut writer = PackWriter::new(ArtifactKind::LinkGroup);
    writer.push(&values::link_group());
    writer.end_group();
    writer.push(&values::unresolved());
    writer.finish()
}

fn read_link_group(bytes: &[u8]) -> Result<bool, String> {
    let reader = PackReader::open(ArtifactKind::LinkGroup, Bytes::copy_from_slice(bytes));
    let mut reader = reader.map_err(|error| error.to_string())?;
    let group: LinkGroup = reader.read(0).map_err(|error| error.to_string())?;
    let unresolved: LinkSummary = reader.read(1).map_err(|error| error.to_string())?;
    Ok(group == values::link_group() && unresolved == values::unresolved())
}

fn text(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(bytes).map_err(|error| error.to_string())
}

fn json<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    serde_json::from_slice(bytes).map_err(|error| error.to_string())
}

fn formats() -> Vec<Format> {
    use ArtifactKind::{FactsPack, LinkGroup as LinkGroupPack, OutlinePack, SourcePack};
    vec![
        Format {
            name: "source_pack",
            version: SourcePack.version(),
            write: || pack(SourcePack, &values::sources()),
            read: |bytes| Ok(unpack::<SourceText>(SourcePack, bytes)? == values::sources()),
        },
        Format {
            name: "facts_pack",
            version: FactsPack.version(),
            write: || pack(FactsPack, &values::facts()),
            read: |bytes| Ok(unpack::<FileFacts>(FactsPack, bytes)? == values::facts()),
        },
        Format {
            name: "manifest",
            version: ArtifactKind::Manifest.version(),
            write: || encode(ArtifactKind::Manifest, &values::manifest()),
            read: read_manifest,
        },
        Format {
            name: "plan",
            version: ArtifactKind::Plan.version(),
            write: || encode(ArtifactKind::Plan, &values::plan()),
            read: read_plan,
        },
        Format {
            name: "patterns",
            version: ArtifactKind::Patterns.version(),
            write: || encode(ArtifactKind::Patterns, &values::patterns()),
            read: |bytes| Ok(artifact::<Vec<PatternRecord>>(ArtifactKind::Patterns, bytes)? == values::patterns()),
        },
        Format {
            name: "outline_pack",
            version: OutlinePack.version(),
            write: || pack(OutlinePack, &values::outlines()),
            read: |bytes| Ok(unpack::<Outline>(OutlinePack, bytes)? == values::outlines()),
        },
        Format {
            name: "link_state",
            version: ArtifactKind::LinkState.version(),
            write: || encode(ArtifactKind::LinkState, &values::link_state()),
            read: |bytes| Ok(artifact::<LinkState>(ArtifactKind::LinkState, bytes)? == values::link_state()),
        },
        Format {
            name: "term_counts",
            version: ArtifactKind::TermCounts.version(),
            write: || encode(ArtifactKind::TermCounts, &values::term_counts()),
            read: read_term_counts,
        },
        Format { name: "link_group", version: LinkGroupPack.version(), write: link_group, read: read_link_group },
        Format { name: "graph_records", version: 1, write: graph_records, read: read_graph_records },
        Format {
            name: "job",
            version: 2,
            write: || values::job().to_json().into_bytes(),
            read: |bytes| Ok(Job::from_json(text(bytes)?)? == values::job()),
        },
        Format {
            name: "part_report",
            version: 3,
            write: || values::part_report().to_json().into_bytes(),
            read: read_part_report,
        },
        Format {
            name: "run_result",
            version: 2,
            write: || serde_json::to_vec(&values::run_result()).expect("JSON"),
            read: read_run_result,
        },
        Format {
            name: "request_settings",
            version: 1,
            write: || values::request_settings().to_json().into_bytes(),
            read: |bytes| Ok(RequestSettings::from_json(text(bytes)?)? == values::request_settings()),
        },
    ]
}

/// Reads a table of term counts. A table of version 1 has no pairs.
fn read_term_counts(bytes: &[u8]) -> Result<bool, String> {
    let found = artifact::<TermCounts>(ArtifactKind::TermCounts, bytes)?;
    let expect = values::term_counts();
    let without_pairs = TermCounts { pairs: Vec::new(), ..expect.clone() };
    Ok(found == expect || bytes.get(6) == Some(&1) && found == without_pairs)
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn file_name(format: &Format) -> String {
    format!("{}.v{}", format.name, format.version)
}

/// Returns every committed golden file with its name and bytes.
fn golden_files() -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder()).expect("the folder of golden files");
    entries
        .map(|entry| {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, fs::read(path).expect("a golden file"))
        })
        .collect()
}

#[test]
fn current_version_is_written_unchanged() {
    for format in formats() {
        let path = folder().join(file_name(&format));
        let written = (format.write)();
        if std::env::var_os("WRITE_GOLDEN").is_some() && !path.exists() {
            fs::write(&path, &written).expect("a golden file");
        }
        let golden = fs::read(&path).unwrap_or_default();
        assert!(
            written == golden,
            "{} is written in other bytes than before: give it a new version, keep the reader of this one, and write \
             the new golden file with WRITE_GOLDEN=1",
            path.display()
        );
    }
}

#[test]
fn every_written_version_is_read() {
    let formats = formats();
    for (name, bytes) in golden_files() {
        let stem = name.split(".v").next().expect("a stem");
        let format = formats.iter().find(|format| format.name == stem);
        let format = format.unwrap_or_else(|| panic!("no format writes {name}"));
        assert_eq!((format.read)(&bytes), Ok(true), "{name}");
    }
}

#[test]
fn unknown_version_error_names_the_known_one() {
    for format in formats() {
        let mut bytes = (format.write)();
        let is_artifact = bytes.starts_with(b"CAIRN");
        if is_artifact {
            bytes[6] = 99;
        } else if format.name == "job" {
            // The error must report the unknown version, even if the other bytes are invalid.
            bytes = br#"{"version":99,"later":true}"#.to_vec();
        } else {
            continue;
        }
        let error = (format.read)(&bytes).expect_err(format.name);
        let newest = format!("up to {}", format.version);
        let names_both = error.contains("version 99") && (error.contains(&newest) || error.contains("reads version 1"));
        assert!(names_both, "{}: {error}", format.name);
    }
}

#[test]
fn artifact_of_another_kind_is_refused() {
    let plan = encode(ArtifactKind::Plan, &values::plan());
    for kind in ArtifactKind::ALL.into_iter().filter(|kind| *kind != ArtifactKind::Plan) {
        let error = decode::<Manifest>(kind, &plan).expect_err("another kind").to_string();
        assert!(error.contains(kind.as_str()), "{error}");
    }
}

#[test]
fn truncated_artifact_is_an_error() {
    for format in formats() {
        let bytes = (format.write)();
        // Every truncated artifact must be refused, with one exception: as `request_settings`, an empty text
        // is valid and means no settings.
        for length in usize::from(format.name == "request_settings")..bytes.len() {
            let read = (format.read)(&bytes[..length]);
            let error = read.expect_err(&format!("{} cut at {length}", format.name));
            assert!(!error.is_empty());
        }
    }
}

#[test]
fn damaged_artifact_is_never_read_as_valid() {
    let sealed = formats().into_iter().filter(|format| (format.write)().starts_with(b"CAIRN"));
    for format in sealed {
        let sound = (format.write)();
        let (mut num_refused, mut num_flips) = (0, 0);
        for position in 0..sound.len() {
            for bits in [0x01, 0x10, 0x55, 0x80, 0xff] {
                let mut damaged = sound.clone();
                damaged[position] ^= bits;
                let read = (format.read)(&damaged);
                assert_ne!(read, Ok(false), "{} with byte {position} flipped by {bits:#x}", format.name);
                num_refused += usize::from(read.is_err());
                num_flips += 1;
            }
        }
        // A few bits of a compressed frame have no meaning for its reader. If such a bit is flipped, the
        // value does not change.
        assert!(num_refused * 10 >= num_flips * 9, "{}: {num_refused} of {num_flips} flips refused", format.name);
    }
}
