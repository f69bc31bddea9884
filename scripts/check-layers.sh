#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Arrows only go down: no file includes a header of a layer that its own may not know.
#
#   scripts/check-layers.sh [TREE]
#
# The build holds this too, but an #include "../…" would get round it, and a header that is on the path
# only because another header needs it would pass unseen.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "${1:-$top}"

# folder, and the folders whose headers its files may include besides its own
layers="\
src/base         -
src/protocol     src/base
storage          src/base
raft-meta        src/base storage
src/net          src/base src/protocol
src/partition    src/base storage
src/replication  src/base src/protocol raft-meta src/net src/partition
src/group        src/base src/protocol raft-meta src/net src/partition
src/txn          src/base src/protocol raft-meta src/net src/partition
src/api          src/base src/protocol raft-meta src/net src/partition src/replication src/group src/txn
src/admin        src/base src/protocol raft-meta src/net src/partition src/replication src/group src/txn src/api
src/broker       src storage raft-meta
src              src storage raft-meta
src/cli          src/base src/protocol storage raft-meta"

# Headers of storage that src/partition's own show to those above it: the types of what it hands out.
passed_on="compress.h record_batch.h fs.h topic_settings.h"

find src storage raft-meta -name '*.[ch]' 2>/dev/null | sort | xargs -r grep -Hn '^[[:space:]]*#[[:space:]]*include' /dev/null |
    LC_ALL=C awk -v layers="$layers" -v passed_on="$passed_on" '
    function fail(why) { print where ": " why; bad = 1 }
    BEGIN {
        n = split(layers, rows, "\n")
        for (i = 1; i <= n; i++) {
            m = split(rows[i], cells, " ")
            may[cells[1]] = " " cells[1] " "
            for (j = 2; j <= m; j++) may[cells[1]] = may[cells[1]] cells[j] " "
        }
        find = "find src storage raft-meta -name \"*.h\""
        while ((find | getline path) > 0) {
            name = path; sub(/.*\//, "", name)
            folder = path; sub(/\/[^\/]*$/, "", folder)
            if (name in home) { print path ": " home[name] " has a header of that name too"; bad = 1 }
            home[name] = folder
        }
    }
    {
        match($0, /:[0-9]+:/)
        path = substr($0, 1, RSTART - 1)
        where = substr($0, 1, RSTART + RLENGTH - 2)
        rest = substr($0, RSTART + RLENGTH)
        if (match(rest, /["<][^">]*[">]/) == 0) next
        quoted = substr(rest, RSTART, 1) == "\""
        header = substr(rest, RSTART + 1, RLENGTH - 2)
        folder = path; sub(/\/[^\/]*$/, "", folder)

        if (header ~ /(^|\/)raft\.h$/ || header ~ /^raft\//) {
            if (path != "raft-meta/meta_raft.c") fail("only raft-meta/meta_raft.c includes raft.h")
            next
        }
        if (!quoted) next
        if (header ~ /\//) { fail("\"" header "\": headers are included by bare name"); next }
        if (!(folder in may)) { fail("scripts/check-layers.sh does not know the layer " folder); next }
        if (!(header in home)) { fail("\"" header "\" is no header of ours"); next }
        target = home[header]
        if (index(may[folder], " " target " ")) next
        if (index(may[folder], " src ") && target ~ /^src\//) next
        if (target == "storage" && index(may[folder], " src/partition ") &&
            index(" " passed_on " ", " " header " ")) next
        fail("\"" header "\" is of " target ", which " folder " may not know")
    }
    END { exit bad }' || die "an arrow goes the wrong way (see above)"
