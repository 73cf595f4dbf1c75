//! Contract of a log, checked over every store. Each rule is a function of a [`World`]; the macro
//! makes it a test for each kind of store.

mod checkpoint_store_law;
mod clocks;
mod following;
mod groups;
mod order;
mod owners;
mod remembering;
mod repeats;
mod store_law;
mod world;

use world::World;

macro_rules! over_both_stores {
    ($($module:ident: $($promise:ident)*;)*) => {
        mod memory {
            $(mod $module {
                $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $promise() -> anyhow::Result<()> {
                    crate::$module::$promise(crate::World::memory()).await
                })*
            })*
        }

        mod postgresql {
            $(mod $module {
                $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $promise() -> anyhow::Result<()> {
                    crate::$module::$promise(crate::World::postgresql(stringify!($promise)).await?).await
                })*
            })*
        }
    };
}

over_both_stores! {
    clocks:
        a_clock_that_is_off_claims_renews_and_writes_nothing
        an_hour_ahead_for_a_second_pins_nothing
        an_hour_back_is_refused_until_it_is_right
        a_clock_that_is_right_in_time_costs_nobody_anything
        an_owner_whose_clock_is_off_loses_the_log_to_one_whose_clock_is_right;
    order:
        a_new_log_is_empty
        concurrent_callers_get_one_order
        many_appends_get_one_order
        what_is_read_is_what_was_written
        recorded_time_never_steps_back
        entries_over_the_limits_are_refused
        two_logs_in_one_store_are_strangers;
    repeats:
        a_repeat_gets_the_first_answer
        a_repeat_fails_nobody_else
        an_id_belongs_to_its_caller
        an_id_is_taken_for_ever;
    remembering:
        what_was_answered_is_known_at_once
        what_is_below_the_floor_is_asked_for
        chosen_ids_hide_nothing
        memory_is_filled_when_the_log_is_opened
        a_repeat_that_the_store_refuses_is_remembered
        a_log_that_is_gone_claims_to_know_nothing;
    groups:
        groups_stand_in_the_order_of_their_calls
        a_group_takes_its_place_before_it_is_waited_for
        a_group_has_the_time_it_says
        a_group_elsewhere_is_misplaced
        a_repeat_refuses_its_group_and_those_after_it
        a_repeat_of_what_is_being_written_is_answered
        groups_that_cannot_be_are_refused;
    owners:
        an_owner_who_renews_keeps_the_log
        the_lease_of_a_silent_owner_ends
        taking_over_stops_the_owner
        an_owner_who_asks_learns_of_the_other
        an_idle_owner_notices_too
        closing_writes_what_waits_and_lets_the_next_in
        the_saved_tree_is_a_convenience;
    following:
        long_records_are_read_a_few_at_a_time
        from_the_beginning_and_on
        from_the_middle_and_from_the_future
        a_slow_reader_misses_nothing
        nobody_who_reads_holds_the_writer_up
        a_stopped_log_says_so;
    store_law:
        a_claim_takes_waits_or_takes_over
        no_two_ownerships_have_one_epoch
        a_batch_goes_in_once_under_its_epoch_and_size
        a_repeated_request_keeps_the_batch_out
        lookups_find_what_is_there_and_nothing_else
        a_lease_is_renewed_and_released_by_its_epoch;
    checkpoint_store_law:
        tiles_are_put_down_once
        checkpoints_are_a_chain
        old_checkpoints_are_thinned_to_one_a_minute;
}
