# SPDX-License-Identifier: Apache-2.0
# What the scripts share. To be sourced; needs bash and coreutils only.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$top/build
me=$(basename "$0")

die()
{
    echo "$me: $*" >&2
    exit 1
}

# The name of this Debian's release: bookworm, trixie, …
debian_codename()
{
    local VERSION_CODENAME=
    # shellcheck source=/dev/null
    [ -r /etc/os-release ] && . /etc/os-release
    echo "${VERSION_CODENAME:-unknown}"
}

# Where the compiler finds libraft: our own build of it, where there is one, otherwise the system's.
raft_pkg_config_path()
{
    if [ -e "$build/deps/raft/lib/pkgconfig/raft.pc" ]; then
        echo "$build/deps/raft/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
    else
        echo "${PKG_CONFIG_PATH:-}"
    fi
}
