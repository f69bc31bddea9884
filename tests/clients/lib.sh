# SPDX-License-Identifier: Apache-2.0
# What the client tests in bash share. To be sourced, with $here set to the folder of this file.

checks=0

# ok WHAT: one line per check that held.
ok()
{
    checks=$((checks + 1))
    echo "   ok  $1"
}

# bad WHAT [DETAIL]: the first check that does not hold ends the script.
bad()
{
    echo "NOT ok  $1"
    [ $# -lt 2 ] || printf '%s\n' "$2" | head -c 4000
    exit 1
}

# check WHAT COMMAND…: the command must succeed; its output is shown if not.
check()
{
    local what=$1 output
    shift
    if output=$("$@" 2>&1); then
        ok "$what"
    else
        bad "$what" "exit code $? of: $*"$'\n'"$output"
    fi
}

# expect WHAT EXPECTED ACTUAL
expect()
{
    [ "$2" = "$3" ] && ok "$1" || bad "$1" "expected:"$'\n'"$2"$'\n'"got:"$'\n'"$3"
}

# expect_status WHAT STATUS TEXT COMMAND…: the exit code, and a text that the output contains.
expect_status()
{
    local what=$1 status=$2 text=$3 output got=0
    shift 3
    output=$("$@" 2>&1) || got=$?
    [ "$got" = "$status" ] || bad "$what" "exit code $got, not $status, of: $*"$'\n'"$output"
    [[ "$output" == *"$text"* ]] || bad "$what" "no '$text' in the output of: $*"$'\n'"$output"
    ok "$what"
}

# find_python MODULE…: a Python that has them: Debian's, where another comes first in the path.
find_python()
{
    local candidate modules
    modules=$(IFS=, && echo "$*")
    for candidate in python3 /usr/bin/python3; do
        if "$candidate" -c "import $modules" 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    return 1
}

# A name for a topic that no other run uses.
new_topic()
{
    echo "$1-$$-$RANDOM"
}

# start_broker SLUICED [NAME=VALUE…]: on a free port, in a folder of its own; sets $broker. To be
# stopped with stop_broker, best from a trap.
start_broker()
{
    local program=$1 port settings=()
    shift
    broker_folder=$(mktemp -d "${TMPDIR:-/tmp}/sluice-client-test-XXXXXX")
    port=$(python3 "$here/broker.py" free-port)
    broker=127.0.0.1:$port
    while [ $# -gt 0 ]; do
        settings+=(--set "$1")
        shift
    done
    "$program" --dev --set "log.dirs=$broker_folder/data" --set "listeners=PLAINTEXT://$broker" \
        "${settings[@]}" >"$broker_folder/sluiced.log" 2>&1 </dev/null &
    broker_pid=$!
    if ! python3 "$here/broker.py" wait "$broker" 30; then
        tail -20 "$broker_folder/sluiced.log"
        bad "the broker starts" "$program --dev did not answer on $broker"
    fi
}

# Politely, and within 30 s; a broker that ends otherwise than with 0 is a failure.
stop_broker()
{
    local pid=${broker_pid:-} status=0 waited=0
    [ -n "$pid" ] || return 0
    broker_pid=
    kill "$pid" 2>/dev/null || true
    while kill -0 "$pid" 2>/dev/null && [ "$waited" -lt 300 ]; do
        waited=$((waited + 1))
        sleep 0.1
    done
    kill -9 "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || status=$?
    if [ "$status" != 0 ]; then
        echo "sluiced ended with $status; its log:"
        tail -40 "$broker_folder/sluiced.log"
    fi
    rm -rf "$broker_folder"
    return "$status"
}
