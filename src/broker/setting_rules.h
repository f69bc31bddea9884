// SPDX-License-Identifier: Apache-2.0
/* What a value must be besides of its type and in its range. */

#ifndef BROKER_SETTING_RULES_H
#define BROKER_SETTING_RULES_H

#include "setting.h"

/* May `setting` be `value`, which setting_check() takes? 0, or ERR_USAGE with a sentence in `why`, or
 * ERR_NO_MEMORY. */
int setting_rules_check(const struct setting *setting, const char *value, char *why,
                        size_t why_size);

/* May it become that at run time, where it is `current` (NULL: not known)? As above. */
int setting_rules_check_change(const struct setting *setting, const char *value,
                               const char *current, char *why, size_t why_size);

#endif
