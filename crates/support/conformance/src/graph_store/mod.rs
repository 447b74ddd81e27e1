//! The conformance suite of the port `GraphStore`. The suite includes the rules for generations that all
//! stores follow.

mod faults;
mod fixture;
mod generations;
mod reading;
mod records;
mod traversal;

use cairn_ports::GraphStore;

pub use faults::faults;

use crate::suite::{Check, checks};

pub fn checks() -> Vec<Check<dyn GraphStore>> {
    use {generations::*, reading::*, records::*, traversal::*};
    checks![
        staged_records_are_visible_once_published,
        retired_records_stay_visible_to_earlier_views,
        a_new_version_replaces_the_old_one,
        hidden_generations_change_nothing,
        staging_again_changes_nothing,
        a_late_writer_retires_nothing_newer,
        records_retired_by_an_aborted_generation_can_be_retired_again,
        parts_of_a_run_add_up,
        sweeping_retired_records_changes_no_view,
        sweeping_unseen_records_changes_no_used_view,
        sweeping_an_aborted_generation_undoes_it,
        removing_a_repository_keeps_later_runs,
        compacting_changes_nothing,
        scope_is_tested_before_limits,
        an_edge_out_of_scope_joins_nothing,
        hidden_repositories_are_invisible,
        edges_need_both_ends,
        neighbours_are_ordered_and_limited,
        nodes_come_in_the_order_of_the_keys,
        pages_are_complete,
        every_kind_of_record_is_read_as_written,
        patterns_are_ordered,
        traversals_follow_the_requested_direction_and_kinds,
        reached_start_nodes_are_returned_once,
        traversals_are_ordered_by_depth_and_confidence,
        traversals_are_cut_in_their_order,
        uncertain_edges_are_not_followed,
        traversals_see_only_the_view_and_the_scope,
        traversals_return_the_best_edge,
        uses_are_counted_in_view_and_scope,
    ]
}
