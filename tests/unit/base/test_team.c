// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include "alloc.h"
#include "error.h"
#include "team.h"

#define MOST 8

/* Members wait until they are told to leave, or all is over. */
static struct team team;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned at_work[MOST];
static bool is_over;

static void work(void *context, unsigned index)
{
    pthread_mutex_lock(&lock);
    assert_ptr_equal(context, &at_work);
    at_work[index]++;
    pthread_cond_broadcast(&changed);
    while (!is_over && !team_leaves(&team, index))
        pthread_cond_wait(&changed, &lock);
    at_work[index]--;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void set_up(void)
{
    is_over = false;
    team_init(&team, "test", work, &at_work);
}

static void tear_down(void)
{
    pthread_mutex_lock(&lock);
    is_over = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    team_close(&team);
}

static int resize(unsigned wanted)
{
    int err = team_resize(&team, wanted);
    pthread_mutex_lock(&lock);
    pthread_cond_broadcast(&changed); /* By (3) of team.h. */
    pthread_mutex_unlock(&lock);
    return err;
}

/* Until members 0 to wanted - 1 are at work, each once, and no others. */
static void await(unsigned wanted)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < MOST; i++)
        while (at_work[i] != (i < wanted ? 1u : 0u))
            pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

TEST(a_team_has_as_many_members_as_are_wanted)
{
    static const unsigned sizes[] = { 0, 1, 5, 2, MOST, 0, 3 };
    set_up();
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        assert_int_equal(resize(sizes[i]), 0);
        assert_int_equal(team_wanted(&team), sizes[i]);
        await(sizes[i]);
    }
    tear_down();
}

TEST(nobody_is_lost_or_too_many_however_fast_a_team_changes)
{
    set_up();
    for (unsigned round = 0; round < 500; round++)
        assert_int_equal(resize(round * 5 % MOST), 0);
    assert_int_equal(resize(4), 0);
    await(4);
    tear_down();
}

TEST(a_team_without_memory_for_more_stays_as_it_is)
{
    set_up();
    assert_int_equal(resize(2), 0);
    mem_fail_at(1);
    assert_int_equal(resize(MOST), ERR_NO_MEMORY);
    mem_fail_at(0);
    await(2);
    mem_fail_at(3);
    assert_int_equal(resize(MOST), ERR_NO_MEMORY);
    mem_fail_at(0);
    await(2);
    assert_int_equal(resize(MOST), 0);
    await(MOST);
    tear_down();
}
