// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "alloc.h"
#include "error.h"
#include "loop.h"

/* ---- a loop whose time the test moves ---- */

static struct clock_manual manual;
static struct loop *loop;

static void loop_is_opened(void)
{
    clock_manual_init(&manual, 0);
    clock_manual_advance_ms(&manual, 1000);
    assert_int_equal(loop_open(&loop, "test", &manual.clock), 0);
}

static void loop_is_closed(void)
{
    loop_close(loop);
    loop = NULL;
}

static void time_passes_ms(int64_t ms)
{
    clock_manual_advance_ms(&manual, ms);
    loop_turn(loop);
}

/* What happened, a letter per callback. */
static char story[64];

static void happens(char letter)
{
    size_t length = strlen(story);
    assert_true(length + 1 < sizeof story);
    story[length] = letter;
    story[length + 1] = '\0';
}

static void assert_story(const char *expected)
{
    assert_string_equal(story, expected);
    story[0] = '\0';
}

/* ---- messages ---- */

struct letter {
    struct message message;
    char name;
    int times_to_post_again;
};

static void deliver_letter(struct message *message)
{
    struct letter *letter = (struct letter *)message;
    assert_true(loop_is_current(loop));
    happens(letter->name);
    if (letter->times_to_post_again > 0) {
        letter->times_to_post_again--;
        loop_post(loop, message);
    }
}

static struct letter letter_named(char name)
{
    struct letter letter = { .name = name };
    message_init(&letter.message, deliver_letter);
    return letter;
}

TEST(messages_come_in_the_order_of_posting_and_not_at_once)
{
    struct letter a = letter_named('a'), b = letter_named('b'), c = letter_named('c');
    loop_is_opened();
    loop_post(loop, &a.message);
    loop_post(loop, &b.message);
    loop_post(loop, &c.message);
    assert_story("");
    loop_turn(loop);
    assert_story("abc");
    loop_turn(loop);
    assert_story("");
    loop_is_closed();
}

TEST(posting_what_is_queued_already_changes_nothing)
{
    struct letter a = letter_named('a'), b = letter_named('b');
    loop_is_opened();
    loop_post(loop, &a.message);
    loop_post(loop, &b.message);
    loop_post(loop, &a.message);
    loop_turn(loop);
    assert_story("ab");
    loop_post(loop, &a.message);
    loop_turn(loop);
    assert_story("a");
    loop_is_closed();
}

TEST(a_message_that_posts_itself_comes_once_per_turn)
{
    struct letter a = letter_named('a');
    a.times_to_post_again = 2;
    loop_is_opened();
    loop_post(loop, &a.message);
    loop_turn(loop);
    assert_story("a");
    loop_turn(loop);
    assert_story("a");
    loop_turn(loop);
    assert_story("a");
    loop_turn(loop);
    assert_story("");
    loop_is_closed();
}

static void deliver_and_free(struct message *message)
{
    happens('f');
    mem_free(message);
}

TEST(a_message_may_free_itself)
{
    struct message *message = mem_alloc(sizeof *message);
    message_init(message, deliver_and_free);
    loop_is_opened();
    loop_post(loop, message);
    loop_turn(loop);
    assert_story("f");
    loop_is_closed();
}

static struct letter posted_inside;

static void post_inside(struct message *message)
{
    (void)message;
    loop_post(loop, &posted_inside.message);
    happens('p');
}

TEST(a_post_from_the_loop_itself_does_not_deliver_inside)
{
    struct message outer;
    message_init(&outer, post_inside);
    posted_inside = letter_named('i');
    loop_is_opened();
    loop_post(loop, &outer);
    loop_turn(loop);
    loop_turn(loop);
    assert_story("pi");
    loop_is_closed();
}

static void stop_loop(struct message *message)
{
    (void)message;
    loop_stop(loop);
    happens('s');
}

TEST(what_is_posted_before_a_stop_is_delivered)
{
    struct letter a = letter_named('a');
    loop_is_opened();
    loop_post(loop, &a.message);
    loop_stop(loop);
    assert_int_equal(loop_run(loop), 0);
    assert_story("a");
    loop_is_closed();
}

TEST(a_running_loop_delivers_what_it_posts_to_itself)
{
    struct message outer, stop;
    message_init(&outer, post_inside);
    message_init(&stop, stop_loop);
    posted_inside = (struct letter){ .message = stop, .name = 's' };
    loop_is_opened();
    loop_post(loop, &outer);
    assert_int_equal(loop_run(loop), 0);
    assert_story("ps");
    loop_is_closed();
}

TEST(a_loop_may_run_again_after_a_stop)
{
    struct message stop;
    message_init(&stop, stop_loop);
    loop_is_opened();
    for (int i = 0; i < 3; i++) {
        loop_post(loop, &stop);
        assert_int_equal(loop_run(loop), 0);
        assert_story("s");
    }
    loop_is_closed();
}

/* ---- timers ---- */

struct alarm {
    struct timer timer;
    char name;
    int64_t again_after_ms; /* Sets itself again if it is not negative. */
    struct alarm *victim;   /* Cancelled when this one fires. */
};

static void fire_alarm(struct timer *timer)
{
    struct alarm *alarm = (struct alarm *)timer;
    assert_true(loop_is_current(loop));
    assert_false(timer_is_set(timer));
    happens(alarm->name);
    if (alarm->again_after_ms >= 0) timer_set(loop, timer, alarm->again_after_ms);
    if (alarm->victim != NULL) timer_cancel(loop, &alarm->victim->timer);
}

static void alarm_init(struct alarm *alarm, char name)
{
    *alarm = (struct alarm){ .name = name, .again_after_ms = -1 };
    timer_init(&alarm->timer, fire_alarm);
}

static struct alarm alarms[3];

static void three_alarms_at(int64_t a_ms, int64_t b_ms, int64_t c_ms)
{
    alarm_init(&alarms[0], 'a');
    alarm_init(&alarms[1], 'b');
    alarm_init(&alarms[2], 'c');
    timer_set(loop, &alarms[0].timer, a_ms);
    timer_set(loop, &alarms[1].timer, b_ms);
    timer_set(loop, &alarms[2].timer, c_ms);
}

TEST(timers_fire_by_deadline_each_in_its_millisecond)
{
    loop_is_opened();
    three_alarms_at(300, 100, 200);
    time_passes_ms(99);
    assert_story("");
    time_passes_ms(1);
    assert_story("b");
    time_passes_ms(200);
    assert_story("ca");
    time_passes_ms(1000);
    assert_story("");
    loop_is_closed();
}

TEST(timers_that_were_missed_fire_by_deadline)
{
    loop_is_opened();
    three_alarms_at(100000, 70, 5);
    time_passes_ms(200000);
    assert_story("cba");
    loop_is_closed();
}

TEST(a_delay_of_nothing_or_less_fires_in_the_next_turn)
{
    loop_is_opened();
    three_alarms_at(0, -5, INT64_MIN);
    assert_story("");
    loop_turn(loop);
    assert_story("abc");
    loop_is_closed();
}

TEST(a_timer_is_set_until_it_fires_or_is_cancelled)
{
    loop_is_opened();
    three_alarms_at(10, 10, 10);
    assert_true(timer_is_set(&alarms[0].timer));
    timer_cancel(loop, &alarms[0].timer);
    assert_false(timer_is_set(&alarms[0].timer));
    timer_cancel(loop, &alarms[0].timer);
    time_passes_ms(10);
    assert_story("bc");
    assert_false(timer_is_set(&alarms[1].timer));
    loop_is_closed();
}

TEST(setting_a_timer_again_moves_it)
{
    loop_is_opened();
    three_alarms_at(10, 20, 30);
    timer_set(loop, &alarms[0].timer, 40);
    timer_set(loop, &alarms[2].timer, 5);
    time_passes_ms(30);
    assert_story("cb");
    time_passes_ms(10);
    assert_story("a");
    loop_is_closed();
}

TEST(a_timer_may_set_itself_again)
{
    loop_is_opened();
    three_alarms_at(10, 1000, 1000);
    alarms[0].again_after_ms = 10;
    time_passes_ms(10);
    time_passes_ms(9);
    assert_story("a");
    time_passes_ms(1);
    assert_story("a");
    loop_is_closed();
}

TEST(a_timer_that_sets_itself_for_now_lets_the_turn_end)
{
    loop_is_opened();
    three_alarms_at(10, 1000, 1000);
    alarms[0].again_after_ms = 0;
    time_passes_ms(10);
    assert_story("a");
    loop_turn(loop);
    assert_story("a");
    loop_is_closed();
}

TEST(a_timer_may_cancel_one_that_is_due_with_it)
{
    loop_is_opened();
    three_alarms_at(10, 10, 20);
    alarms[0].victim = &alarms[1];
    time_passes_ms(50);
    assert_story("ac");
    loop_is_closed();
}

static void fire_and_free(struct timer *timer)
{
    happens('f');
    mem_free(timer);
}

TEST(a_timer_may_free_itself)
{
    struct timer *timer = mem_alloc(sizeof *timer);
    timer_init(timer, fire_and_free);
    loop_is_opened();
    timer_set(loop, timer, 1);
    time_passes_ms(1);
    assert_story("f");
    loop_is_closed();
}

TEST(a_deadline_may_be_ages_away)
{
    static const int64_t year_ms = INT64_C(365) * 24 * 3600 * 1000;
    loop_is_opened();
    three_alarms_at(100 * year_ms, INT64_MAX, 30 * year_ms);
    time_passes_ms(30 * year_ms - 1);
    assert_story("");
    time_passes_ms(1);
    assert_story("c");
    time_passes_ms(70 * year_ms);
    assert_story("a");
    time_passes_ms(10000 * year_ms);
    assert_story("");
    assert_true(timer_is_set(&alarms[1].timer));
    loop_is_closed();
}

static void set_alarm_after_a_long_poll(struct message *message)
{
    (void)message;
    timer_set(loop, &alarms[0].timer, 50);
}

TEST(a_timer_set_by_a_message_counts_from_the_message_not_from_the_poll_before)
{
    struct message message;
    message_init(&message, set_alarm_after_a_long_poll);
    loop_is_opened();
    alarm_init(&alarms[0], 'a');
    loop_turn(loop);
    loop_post(loop, &message);
    time_passes_ms(1000); /* The loop sleeps all that time. */
    assert_story("");
    time_passes_ms(49);
    assert_story("");
    time_passes_ms(1);
    assert_story("a");
    loop_is_closed();
}

TEST(a_timer_set_within_a_millisecond_is_not_early)
{
    loop_is_opened();
    alarm_init(&alarms[0], 'a');
    atomic_fetch_add(&manual.monotonic_us, 999);
    timer_set(loop, &alarms[0].timer, 1);
    atomic_fetch_add(&manual.monotonic_us, 1); /* The clock shows the next one, 1 us later. */
    loop_turn(loop);
    assert_story("");
    time_passes_ms(1);
    assert_story("a");
    loop_is_closed();
}

static void ask_for_the_time_twice(struct message *message)
{
    (void)message;
    int64_t now_ms = loop_now_ms(loop);
    clock_manual_advance_ms(&manual, 5);
    happens(loop_now_ms(loop) == now_ms ? 'y' : 'n');
}

TEST(time_stands_still_within_a_turn)
{
    struct message message;
    message_init(&message, ask_for_the_time_twice);
    loop_is_opened();
    int64_t start_ms = loop_now_ms(loop);
    loop_post(loop, &message);
    loop_turn(loop);
    assert_story("y");
    assert_int_equal(loop_now_ms(loop), start_ms + 5);
    loop_is_closed();
}

static void fire_twice(struct timer *timer)
{
    happens('f');
    if (strlen(story) == 1)
        timer_set(loop, timer, 0);
    else
        loop_stop(loop);
}

/* From 1000 to the start of a slot of the wheel, so that the alarm is for the deadline itself. */
#define AN_HOUR_MS ((1 << 22) - 1000)

static void an_hour_passes(struct message *message)
{
    (void)message;
    clock_manual_advance_ms(&manual, AN_HOUR_MS);
}

TEST(a_running_loop_needs_no_alarm_of_libuvs_to_follow_a_moved_clock)
{
    struct timer timer;
    struct message message;
    timer_init(&timer, fire_twice);
    message_init(&message, an_hour_passes);
    loop_is_opened();
    timer_set(loop, &timer, AN_HOUR_MS);
    loop_post(loop, &message);
    assert_int_equal(loop_run(loop), 0); /* Not for a real hour. */
    assert_story("ff");
    loop_is_closed();
}

/* ---- libuv's clock and poll, for which these tests wait a few milliseconds ---- */

static struct alarm stopper;

static void fire_stopper(struct timer *timer)
{
    (void)timer;
    loop_stop(loop);
}

static void set_stopper(uv_prepare_t *prepare)
{
    uv_prepare_stop(prepare);
    timer_set(loop, &stopper.timer, 2);
}

TEST(a_timer_set_just_before_the_poll_still_ends_it)
{
    uv_prepare_t prepare;
    assert_int_equal(loop_open(&loop, "test", clock_real()), 0);
    timer_init(&stopper.timer, fire_stopper);
    uv_prepare_init(loop_uv(loop), &prepare);
    uv_prepare_start(&prepare, set_stopper);
    assert_int_equal(loop_run(loop), 0); /* For ever, if the alarm had been missed. */
    loop_is_closed();
}

static int64_t set_at_us, late_us;

static void note_lateness(struct timer *timer)
{
    late_us = clock_monotonic_us(clock_real()) - set_at_us - 3000;
    fire_stopper(timer);
}

TEST(a_timer_is_never_early_by_the_machines_clock)
{
    assert_int_equal(loop_open(&loop, "test", clock_real()), 0);
    timer_init(&stopper.timer, note_lateness);
    for (int i = 0; i < 5; i++) {
        set_at_us = clock_monotonic_us(clock_real());
        timer_set(loop, &stopper.timer, 3);
        assert_int_equal(loop_run(loop), 0);
        assert_true(late_us >= 0);
    }
    loop_is_closed();
}

/* ---- the thread ---- */

static char thread_name[16];

static void read_thread_name(struct message *message)
{
    (void)message;
    pthread_getname_np(pthread_self(), thread_name, sizeof thread_name);
    happens(loop_is_current(loop) ? 'y' : 'n');
    loop_stop(loop);
}

TEST(a_loops_thread_has_its_name_as_far_as_it_fits)
{
    struct message message;
    message_init(&message, read_thread_name);
    assert_int_equal(loop_open(&loop, "a-name-of-22-letters--", clock_real()), 0);
    assert_int_equal(loop_start(loop), 0);
    assert_false(loop_is_current(loop));
    loop_post(loop, &message);
    loop_is_closed();
    assert_string_equal(thread_name, "a-name-of-22-le");
    assert_story("y");
}

/* ---- the end ---- */

static void count_close(uv_handle_t *handle)
{
    (void)handle;
    happens('c');
}

TEST(handles_that_are_left_or_closing_are_gone_when_the_loop_is)
{
    uv_timer_t left_over, closing;
    uv_pipe_t pipe;
    loop_is_opened();
    uv_timer_init(loop_uv(loop), &left_over);
    uv_timer_init(loop_uv(loop), &closing);
    uv_pipe_init(loop_uv(loop), &pipe, 0);
    uv_close((uv_handle_t *)&closing, count_close);
    loop_is_closed();
    assert_story("c");
    assert_true(uv_is_closing((uv_handle_t *)&left_over));
    assert_true(uv_is_closing((uv_handle_t *)&pipe));
}

static void post_canceled(uv_write_t *write, int status)
{
    assert_int_equal(status, UV_ECANCELED);
    loop_post(loop, write->data);
    happens('c');
}

TEST(what_is_posted_while_a_loop_closes_stays_with_its_poster)
{
    static char bytes[4 << 20]; /* More than a socket takes without a reader. */
    struct letter a = letter_named('a');
    uv_buf_t buf = uv_buf_init(bytes, sizeof bytes);
    uv_write_t write = { .data = &a.message };
    uv_pipe_t pipe;
    int ends[2];
    loop_is_opened();
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    uv_pipe_init(loop_uv(loop), &pipe, 0);
    assert_int_equal(uv_pipe_open(&pipe, ends[0]), 0);
    assert_int_equal(uv_write(&write, (uv_stream_t *)&pipe, &buf, 1, post_canceled), 0);
    loop_is_closed();
    close(ends[1]);
    assert_story("c");
}

TEST(a_loop_that_never_ran_and_no_loop_at_all_can_be_closed)
{
    loop_is_opened();
    loop_is_closed();
    loop_close(NULL);
}

TEST(a_loop_without_memory_is_not_opened)
{
    struct loop *none = NULL;
    mem_fail_at(1);
    int err = loop_open(&none, "test", clock_real());
    mem_fail_at(0);
    assert_int_equal(err, ERR_NO_MEMORY);
    assert_null(none);
}
