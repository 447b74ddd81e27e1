//! Implements the ports for the catalogue, the ledger, the outbox and the requests on top of any store of run
//! documents.
//!
//! `cairn_runs` makes the decisions, and the store contains the documents. This crate turns the values of the
//! ports into commands, and turns documents into the values of the ports.

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

/// The catalogue, the ledger, the outbox and the requests of one store.
#[derive(Clone)]
pub struct Metastore {
    documents: Arc<dyn RunDocuments>,
}

impl Metastore {
    pub fn new(documents: Arc<dyn RunDocuments>) -> Self {
        Self { documents }
    }
}
