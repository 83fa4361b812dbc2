# SPDX-License-Identifier: GPL-2.0-only
# Sourced by every script here: where things are, how to speak and how to fail.

# All that is downloaded or built lies below $ROOT/build*, so that one rm takes it away.
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

say() { printf '== %s\n' "$*"; }
die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# as_root COMMAND...: for the package manager alone; nothing else here needs root.
as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    else
        command -v sudo >/dev/null || die "installing packages needs root: run as root or install sudo"
        sudo "$@"
    fi
}

# under_lock FILE COMMAND...: two runs side by side must not fill one cache at the same time.
under_lock() {
    local lock=$1
    shift
    mkdir -p "$(dirname "$lock")"
    (
        flock 9
        "$@"
    ) 9>"$lock"
}
