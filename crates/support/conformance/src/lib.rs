//! A conformance suite for each port. Every adapter of the port runs the suite. Faults can be planted in an
//! adapter, and a test proves that the suite notices each of them.
//!
//! A suite is a list of named checks that use only the port's trait, so that local adapters and adapters of
//! real servers follow the same contract. Each check has its own tenant, repository or key space (`Case`). So
//! all checks can share one server, or each check can use a new store. The test of an adapter makes two
//! calls:
//!
//! ```text
//! suite::passes(&blob_store::checks(), open_a_store).await
//! suite::catches(&blob_store::checks(), &blob_store::faults(), open_a_store).await
//! ```

pub mod blob_store;
pub mod broker;
pub mod clock;
pub mod embedder;
pub mod file_parser;
pub mod graph_store;
pub mod hosting;
pub mod key_store;
pub mod names;
pub mod run_documents;
pub mod runs;
pub mod source;
pub mod suite;
pub mod texts;
pub mod vector_cache;
pub mod vector_store;

mod case;
mod faulty;

pub use case::Case;

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    /// The texts of all files below a folder, concatenated.
    fn texts(folder: &Path) -> String {
        let mut text = String::new();
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                text.push_str(&texts(&path));
            } else {
                text.push_str(&fs::read_to_string(path).expect("a source file"));
            }
        }
        text
    }

    #[test]
    fn every_port_has_a_suite_with_faults_to_catch() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let (ports, suites) = (texts(&crates.join("ports/src")), texts(&crates.join("support/conformance/src")));
        let names = ports.split("pub trait ").skip(1).filter_map(|rest| rest.split([':', ' ', '<', '{']).next());
        // Traits with the suffix `Ext` need no suite, because they only use the methods of a port.
        // `PortError` is not a port.
        let names: Vec<&str> = names.filter(|name| !name.ends_with("Ext") && *name != "PortError").collect();
        assert!(names.len() > 10, "{names:?}");
        for name in names {
            assert!(suites.contains(&format!("{name} for Faulty")), "no suite plants faults in `{name}`");
        }
        let num_faults = [
            ("blob store", super::blob_store::faults().len()),
            ("broker", super::broker::faults().len()),
            ("clock", super::clock::faults().len()),
            ("embedder", super::embedder::faults().len()),
            ("file parser", super::file_parser::faults().len()),
            ("graph store", super::graph_store::faults().len()),
            ("key store", super::key_store::faults().len()),
            ("names", super::names::faults().len()),
            ("run documents", super::run_documents::faults().len()),
            ("runs", super::runs::faults().len()),
            ("source", super::source::faults(false).len()),
            ("texts", super::texts::faults().len()),
            ("vector cache", super::vector_cache::faults().len()),
            ("vector store", super::vector_store::faults().len()),
        ];
        for (suite, num_faults) in num_faults {
            assert!(num_faults >= 3, "{suite}: {num_faults}");
        }
    }
}
