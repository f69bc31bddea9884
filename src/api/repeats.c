// SPDX-License-Identifier: Apache-2.0
#include "repeats.h"

void repeats_init(struct repeats *repeats)
{
    map_init(&repeats->first);
}

void repeats_close(struct repeats *repeats)
{
    map_close(&repeats->first);
}

int repeats_note(struct repeats *repeats, const void *key, size_t length, struct repeat *repeat)
{
    struct repeat *first = map_get(&repeats->first, key, length);
    if (first == NULL) {
        *repeat = (struct repeat){ .is_first = true, .first = repeat };
        return map_put(&repeats->first, key, length, repeat, NULL);
    }
    first->is_repeated = true;
    *repeat = (struct repeat){ .is_repeated = true, .first = first };
    return 0;
}
