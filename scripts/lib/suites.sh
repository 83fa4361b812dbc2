# SPDX-License-Identifier: GPL-2.0-only
# Runs suites and keeps the score: how many checks passed, failed and were skipped, and how long each took.
# Needs common.sh and build.sh.

PASSED=0 FAILED=0 SKIPPED=0
SCORE=()

now_ms() { echo $(($(date +%s%N) / 1000000)); }

# score NAME PASSED FAILED SKIPPED STARTED_MS
score() {
    PASSED=$((PASSED + $2)) FAILED=$((FAILED + $3)) SKIPPED=$((SKIPPED + $4))
    local took=$(($(now_ms) - $5))
    SCORE+=("$(printf '%-24s %7d %7d %7d %7d.%d' "$1" "$2" "$3" "$4" $((took / 1000)) $((took % 1000 / 100)))")
}

# check NAME COMMAND...: one check that a command makes.
check() {
    local name=$1 started
    shift
    started=$(now_ms)
    say "$name"
    if ("$@"); then
        score "$name" 1 0 0 "$started"
    else
        echo "FAILED: $name" >&2
        score "$name" 0 1 0 "$started"
        return 1
    fi
}

# count_in JUNIT ATTRIBUTE: of the suite that CTest wrote.
count_in() { grep -m1 -o "$2=\"[0-9]*\"" "$1" | tr -dc 0-9; }

# suite PRESET LABEL [CTEST_OPTION...]: the tests with that label, none of the label full unless asked for.
suite() {
    local preset=$1 label=$2 folder junit started tests failures skipped
    shift 2
    folder=$(build_folder "$preset")
    junit=$folder/junit-$label.xml
    started=$(now_ms)
    say "$preset: $label"
    rm -f "$junit"
    ctest --test-dir "$folder" -L "^$label\$" --no-tests=error --output-on-failure --output-junit "$junit" "$@" \
        </dev/null || echo "FAILED: $preset: $label" >&2
    if [ ! -s "$junit" ]; then
        score "$preset $label" 0 1 0 "$started"
        return
    fi
    tests=$(count_in "$junit" tests) failures=$(count_in "$junit" failures)
    skipped=$(($(count_in "$junit" skipped) + $(count_in "$junit" disabled)))
    score "$preset $label" $((tests - failures - skipped)) "$failures" "$skipped" "$started"
}

# show_score STARTED_MS: a row a suite, how it went, and the count as the last line. Fails if any check did.
show_score() {
    local word="all is well" took=$((($(now_ms) - $1) / 1000))
    [ "$FAILED" = 0 ] || word="NOT well"
    printf '\n%-24s %7s %7s %7s %9s\n' suite passed failed skipped seconds
    printf '%s\n' "${SCORE[@]}"
    printf '\n%s: %d checks passed, %d failed after %d s; build/fio-mpath.so and build/fio-mpath %s\n' "$word" \
        "$PASSED" "$FAILED" "$took" "$([ -s "$ROOT/build/fio-mpath.so" ] && [ -x "$ROOT/build/fio-mpath" ] &&
            echo stand there || echo are missing)"
    printf '%d passed, %d failed, %d skipped\n' "$PASSED" "$FAILED" "$SKIPPED"
    [ "$FAILED" = 0 ]
}
