//! The conformance suite of the catalogue and the run ledger. The catalogue and the ledger are tested as one
//! subject, because they share the state of runs.

mod catalogue;
mod faults;
mod fixture;
mod ledger;
mod outbox;
mod requests;
mod sweep;

pub use faults::faults;
pub use fixture::RunStore;

use crate::suite::{Check, checks};

pub fn checks() -> Vec<Check<dyn RunStore>> {
    use {catalogue::*, ledger::*, outbox::*, requests::*, sweep::*};
    checks![
        repositories_are_listed_by_name_and_scope,
        registering_again_updates,
        changed_settings_replace_only_the_expected_ones,
        listed_repositories_keep_their_settings,
        a_run_is_invisible_until_it_is_published,
        views_taken_earlier_stay_as_they_are,
        a_view_comes_back_by_its_seq,
        unpublished_generations_are_hidden,
        publishing_is_guarded,
        a_deleted_repository_is_hidden_at_once,
        deleting_cancels_the_unfinished_run,
        indexing_again_during_a_deletion_is_safe,
        a_lease_has_one_holder,
        beginning_is_guarded,
        parts_start_when_their_predecessors_have_ended,
        first_end_of_a_part_is_kept,
        exactly_one_end_sees_the_last_part,
        worker_reads_the_status_of_a_part,
        a_finished_run_takes_no_ends,
        runs_are_recorded,
        window_bounds_parts_in_progress,
        outbox_keeps_unsent_jobs,
        a_stalled_run_is_sent_again,
        a_request_is_dispatched_once_and_answered,
        scheduled_requests_differ_from_user_requests,
        dispatched_request_is_not_repeated_soon,
        request_during_a_sync_is_served_afterwards,
        cancelled_request_begins_no_run,
        sync_between_attempts_takes_no_capacity,
        interactive_requests_are_dispatched_first_and_in_bounds,
        published_generations_are_swept_after_the_grace_period,
        aborted_generations_are_hidden_until_they_are_swept,
        a_deleted_repository_is_forgotten_when_swept,
        manifests_live_as_long_as_a_view_may_see_them,
        syncing_and_running_repositories_are_in_progress,
    ]
}
