# SPDX-License-Identifier: GPL-2.0-only
# Installs the packages of scripts/packages. Needs common.sh.

# packages_of SET...: their names, one a line.
packages_of() {
    local set
    for set in "$@"; do
        awk -v set="$set" '$1 == set { print $2 }' "$ROOT/scripts/packages"
    done | sort -u
}

# missing_packages NAME...: those that are not installed.
missing_packages() {
    local name
    for name in "$@"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || echo "$name"
    done
}

# update_lists: the machine's own package lists, read anew.
update_lists() {
    as_root apt-get -q -o Acquire::Retries=3 update >&2 || die "apt-get update failed: is the network there?"
}

# install_packages SET...: touches neither the network nor the package manager when nothing is missing.
# Noninteractive, because some packages (tshark) ask a question; the default answer is right.
install_packages() {
    command -v dpkg-query >/dev/null && command -v apt-get >/dev/null || die "this needs Debian's apt-get"
    local missing
    mapfile -t missing < <(missing_packages $(packages_of "$@"))
    [ ${#missing[@]} -gt 0 ] || return 0
    say "installing ${missing[*]}"
    update_lists
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends \
        -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 install "${missing[@]}" \
        </dev/null >&2 || die "could not install ${missing[*]}"
}
