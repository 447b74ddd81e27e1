//! The conformance suite of the port `VectorStore`. The suite includes the rules for generations that all
//! stores follow.

mod faults;
mod fixture;
mod generations;
mod reading;
mod search;

use cairn_ports::VectorStore;

pub use faults::faults;
pub use fixture::DIMENSIONS;

use crate::suite::{Check, checks};

pub fn checks() -> Vec<Check<dyn VectorStore>> {
    use {generations::*, reading::*, search::*};
    checks![
        staged_chunks_are_visible_once_published,
        retired_chunks_stay_visible_to_earlier_views,
        a_new_version_replaces_the_old_one,
        hidden_generations_change_nothing,
        staging_again_changes_nothing,
        a_late_writer_retires_nothing_newer,
        records_retired_by_an_aborted_generation_can_be_retired_again,
        parts_of_a_run_add_up,
        sweeping_retired_chunks_changes_no_view,
        sweeping_unseen_chunks_changes_no_used_view,
        sweeping_an_aborted_generation_undoes_it,
        removing_a_repository_keeps_later_runs,
        removing_after_a_merge_keeps_later_runs_once,
        compacting_changes_nothing,
        dense_scores_are_exact_sums,
        sparse_scores_are_exact_sums,
        the_order_of_hits_is_total,
        first_hits_have_records,
        hits_are_found_however_few_paths_match,
        every_filter_restricts,
        places_are_sorted,
        filters_are_tested_before_limits,
        scope_is_tested_before_limits,
        hidden_repositories_are_invisible,
        chunks_are_read_as_written,
        pages_are_complete,
    ]
}
