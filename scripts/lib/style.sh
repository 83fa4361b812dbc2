# SPDX-License-Identifier: GPL-2.0-only
# Formatting and lint of our own code. Needs common.sh; clang_tidy needs a configured build/.

# own_code SUFFIX...: tracked files, with these suffixes, that exist.
own_code() {
    local patterns=()
    for suffix in "$@"; do
        patterns+=("*.$suffix")
    done
    (cd "$ROOT" && git -c safe.directory='*' ls-files -- "${patterns[@]}" | while read -r file; do
        [ ! -e "$file" ] || echo "$file"
    done)
}

formatted() {
    (cd "$ROOT" && own_code h c cc | xargs clang-format --dry-run -Werror)
}

# clang_tidy [OPTION...]: the product's C++, one process a core.
clang_tidy() {
    (cd "$ROOT" && own_code cc | grep -Ev '^(tests|bench)/' |
        xargs -P "$(nproc)" -n 1 clang-tidy --quiet -p build "$@" 2>"$ROOT/build/clang-tidy.log")
}
