#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every setting that is honoured has a test that fails when it is ignored: a comment "Setting: NAME, NAME"
# above the TEST says which. Fails if one is missing, or if a test names what is not honoured.
#
#   scripts/check-settings.sh [TOP]
set -euo pipefail
. "$(dirname "$0")/lib.sh"

[ $# = 0 ] || top=$1

# Of brokers those that are served, read together, or what topics get; of topics those that are served.
# What a topic gets for a setting that is not served there, only the default, is none.
honoured=$(
    {
        served=$(sed -nE 's/^ *\{ "([a-z0-9.]+)", .* true, .*/\1/p' "$top/storage/topic_settings.c")
        echo "$served"
        # One row to a line, whatever its breaks.
        tr -d '\n\\' <"$top/src/broker/config_table.h" | tr -s ' ' |
            sed -E 's/ (SERVED|TOGETHER|TOPIC_DEFAULT|NO_EFFECT|REFUSED)\("/\n\1("/g' |
            while IFS='"' read -r kind name rest; do
                case $kind in
                'SERVED(' | 'TOGETHER(') echo "$name" ;;
                'TOPIC_DEFAULT(')
                    topic=$(sed -E 's/.*"([a-z.]+)", [0-9]+\).*/\1/' <<<"$rest")
                    if grep -qxF "$topic" <<<"$served"; then echo "$name"; fi
                    ;;
                esac
            done
    } | sort -u
)

# Names in comments that end right above a TEST.
tested=$(
    find "$top/tests" -name 'test_*.c' -exec awk '
        /^\/\*/ { comment = "" }
        { comment = comment " " $0 }
        /\*\/$/ { whole = comment; comment = ""; next }
        /^TEST\(/ { if (sub(/.*Settings?: /, "", whole)) print whole }
        { whole = "" }' {} + |
        tr -c 'a-z0-9.\n' '\n' | grep '[a-z]' | sort -u
)

[ -n "$honoured" ] || die "no setting is honoured: the tables are not read as they stand"
missing=$(comm -23 <(echo "$honoured") <(echo "$tested"))
unknown=$(comm -13 <(echo "$honoured") <(echo "$tested"))
[ -z "$missing" ] || echo "$missing" | sed 's/^/no test names the setting /'
[ -z "$unknown" ] || echo "$unknown" | sed 's/^/a test names what is not honoured: /'
[ -z "$missing$unknown" ] || die "settings and their tests do not fit (see above)"
