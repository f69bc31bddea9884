// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include "placement.h"

TEST(four_partitions_of_three_replicas_on_four_brokers)
{
    static const int32_t live[] = { 1, 2, 3, 4 };
    static const int32_t expected[4][3] = { { 1, 2, 3 }, { 2, 3, 4 }, { 3, 4, 1 }, { 4, 1, 2 } };
    for (uint32_t partition = 0; partition < 4; partition++)
        for (uint32_t replica = 0; replica < 3; replica++)
            assert_int_equal(placement_broker(live, 4, partition, replica),
                             expected[partition][replica]);
}

TEST(the_preferred_leader_of_partition_i_is_broker_i_mod_n)
{
    static const int32_t live[] = { 10, 20, 35 };
    for (uint32_t partition = 0; partition < 10; partition++)
        assert_int_equal(placement_broker(live, 3, partition, 0), live[partition % 3]);
}

TEST(the_last_partition_there_can_be_is_placed_too)
{
    static const int32_t live[] = { 1, 2, 3 };
    assert_int_equal(placement_broker(live, 3, UINT32_MAX, 1), 2);
}
