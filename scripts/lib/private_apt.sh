# SPDX-License-Identifier: GPL-2.0-only
# Packages of other suites and source packages, without touching the machine's own package lists or what is
# installed: an apt configuration of its own in a cache folder. Needs common.sh and packages.sh.

# apt_targets FIELDS FILTER...: what the machine's own apt sources offer, one archive a line.
apt_targets() {
    local format=$1
    shift
    # Nothing is listed before the first update of the machine's own lists.
    [ -n "$(apt-get indextargets --format x 'Created-By: Packages' 2>/dev/null)" ] || update_lists
    apt-get indextargets --format "$format" 'Created-By: Packages' "$@" | sort -u
}

# archive_uri LABEL: the archive with that label (Debian, Debian-Security) in the machine's apt sources.
archive_uri() {
    local uris
    mapfile -t uris < <(apt_targets '$(REPO_URI)' "Label: $1")
    [ ${#uris[@]} -gt 0 ] || die "no archive labelled $1 in this machine's apt sources"
    echo "${uris[0]}"
}

# private_apt FOLDER: makes FOLDER an apt root with the source lines read from standard input, exports
# APT_CONFIG so that apt uses it from now on, and reads its lists. There nothing counts as installed, so that
# apt resolves whole closures.
private_apt() {
    local apt=$1
    mkdir -p "$apt"/{lists/partial,archives/partial,etc/apt.conf.d,etc/preferences.d,etc/sources.list.d}
    cat >"$apt/etc/sources.list"
    : >"$apt/status"
    cat >"$apt/apt.conf" <<C
Dir::Etc "$apt/etc";
Dir::State "$apt";
Dir::State::lists "$apt/lists";
Dir::State::status "$apt/status";
Dir::Cache "$apt";
Dir::Cache::archives "$apt/archives";
APT::Install-Recommends "0";
APT::Sandbox::User "";
Acquire::Languages "none";
Acquire::Retries "3";
C
    export APT_CONFIG=$apt/apt.conf
    apt-get -q update >"$apt/update.log" 2>&1 || die "apt-get update failed, see $apt/update.log"
}

# Archives signed by Debian's keys are trusted, whatever the machine's own sources say.
SIGNED_BY=/usr/share/keyrings/debian-archive-keyring.gpg

# binary_sources SUITE...: source lines for private_apt, from the machine's own archive hosts.
binary_sources() {
    local suite main security
    main=$(archive_uri Debian) && security=$(archive_uri Debian-Security) || return
    for suite in "$@"; do
        echo "deb [signed-by=$SIGNED_BY] $main $suite main"
        [[ $suite == *-* ]] || echo "deb [signed-by=$SIGNED_BY] $security $suite-security main"
    done
}

# own_source_packages: source lines for private_apt, for the sources of what is installed here.
own_source_packages() {
    local label
    for label in Debian Debian-Security; do
        apt_targets "deb-src [signed-by=$SIGNED_BY] \$(REPO_URI) \$(RELEASE) main" "Label: $label" 'Component: main'
    done
}

# closure PACKAGE...: these packages and the libraries they need, without what else they depend on.
closure() {
    local wanted=" $* " deb name
    apt-get -y --print-uris install "$@" 2>/dev/null | sed -n "s/^'[^']*' \([^ ]*\) .*/\1/p" |
        while read -r deb; do
            name=${deb%%_*}
            case "$wanted" in *" $name "*)
                echo "$name"
                continue
                ;;
            esac
            case "$name" in
            libpython* | libperl* | libklibc* | libpam*) ;;
            lib*) echo "$name" ;;
            esac
        done
}

# fetch_debs FOLDER PACKAGE...: downloads those that FOLDER lacks.
fetch_debs() {
    local folder=$1
    shift
    mkdir -p "$folder"
    (cd "$folder" && apt-get -q download "$@" >"$folder/download.log" 2>&1) || die "download failed: $*"
}

# deb_of FOLDER PACKAGE: the downloaded file of the version that apt would install.
deb_of() {
    local version
    version=$(apt-cache policy "$2" | awk '/Candidate:/ { print $2 }')
    ls "$1/$2_${version//:/%3a}"_*.deb
}
