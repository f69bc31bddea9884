# SPDX-License-Identifier: Apache-2.0
# What the scripts share. To be sourced; needs nothing that a bare Debian lacks.

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

# The mirror that this machine's own apt uses for Debian.
debian_mirror()
{
    apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
        awk -v release="$(debian_codename)" '
            $2 == "main" && ($1 == release || $1 == "stable" || $1 == "oldstable") && !found {
                print $3; found = 1
            }'
}

# fetch_debian_source SUITE PACKAGE=VERSION SUMS: a source package into the current folder, as root or
# not, with lists of our own beside it: the system's apt configuration stays as it is. SUMS has the
# lines that sha256sum prints for its files.
fetch_debian_source()
{
    local mirror apt
    mirror=$(debian_mirror)
    if [ -z "$mirror" ]; then
        echo "apt's sources name no Debian mirror to take the source of $2 from"
        return 1
    fi
    mkdir -p apt/lists/partial apt/cache/archives/partial apt/parts
    echo "deb-src $mirror $1 main" >apt/sources.list
    apt=(apt-get -qq
        -o "Dir::Etc::sourcelist=$PWD/apt/sources.list" -o "Dir::Etc::sourceparts=$PWD/apt/parts"
        -o "Dir::State::Lists=$PWD/apt/lists" -o "Dir::Cache=$PWD/apt/cache"
        -o "APT::Sandbox::User=$(id -un)" -o Acquire::Languages=none -o Acquire::Retries=3)
    "${apt[@]}" update &&
        "${apt[@]}" source --download-only "$2" &&
        sha256sum --check --strict --quiet <<<"$3"
}

# gnu_triplet ARCH: what compilers call a Debian architecture that we build for.
gnu_triplet()
{
    case $1 in
        arm64) echo aarch64-linux-gnu ;;
        *) die "Sluice is not built for '$1'" ;;
    esac
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
