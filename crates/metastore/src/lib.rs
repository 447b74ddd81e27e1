//! Implements the ports for catalogue, ledger, outbox and requests on any store of run documents.
//!
//! `cairn_runs` makes the decisions, and the store contains the documents. This crate turns the ports' values
//! into commands, and documents into the ports' values.

mod catalogue;
mod error;
mod ledger;
mod outbox;
mod records;
mod requests;
mod shared_reads;
mod sweep;

use std::sync::Arc;

use cairn_ports::RunDocuments;

pub use shared_reads::SharedReads;

/// The catalogue and the ledger of one store.
#[derive(Clone)]
pub struct Metastore {
    documents: Arc<dyn RunDocuments>,
}

impl Metastore {
    pub fn new(documents: Arc<dyn RunDocuments>) -> Self {
        Self { documents }
    }
}
