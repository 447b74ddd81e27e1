//! The conformance suite of the port `Names`. The suite includes the rules for generations that all stores
//! follow.

mod chunks;
mod faults;
mod fixture;
mod generations;
mod lookup;
mod resolve;

use cairn_ports::Names;

pub use faults::faults;

use crate::suite::{Check, checks};

pub fn checks() -> Vec<Check<dyn Names>> {
    use {chunks::*, generations::*, lookup::*, resolve::*};
    checks![
        staged_names_are_visible_once_published,
        replaced_names_stay_visible_to_earlier_views,
        hidden_generations_change_nothing,
        staging_again_changes_nothing,
        sweeping_replaced_names_changes_no_view,
        sweeping_unseen_names_changes_no_used_view,
        sweeping_an_aborted_generation_undoes_it,
        removing_a_repository_keeps_later_runs,
        removing_after_a_merge_keeps_later_runs_once,
        compacting_changes_nothing,
        each_way_of_matching_finds_its_own,
        best_match_is_reported_once,
        qualified_names_match_at_their_end,
        symbols_are_ordered_and_limited,
        files_match_by_path_and_base_name,
        the_very_path_is_found_alone,
        base_names_directories_and_globs_are_found,
        wildcards_in_file_names_are_literal,
        files_are_ordered_and_limited,
        scope_is_tested_before_limits,
        hidden_repositories_are_invisible,
        symbols_are_read_as_written,
        pages_are_complete,
        names_are_resolved_in_tiers,
        near_names_are_resolved_last,
        learned_abbreviations_are_near,
        near_names_are_limited_and_visible,
        near_owners_are_preferred,
        symbols_of_nodes_come_in_the_order_of_the_nodes,
        symbols_of_chunks_come_in_the_order_of_the_chunks,
    ]
}
