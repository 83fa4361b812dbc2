# SPDX-License-Identifier: GPL-2.0-only
# Configures and builds the presets of CMakePresets.json. Needs common.sh.

# quietly LOG COMMAND...: the output goes to LOG, and its end is shown when the command fails.
quietly() {
    local log=$1
    shift
    if ! "$@" >"$log" 2>&1; then
        tail -n 60 "$log" >&2
        return 1
    fi
}

# build_folder PRESET
build_folder() {
    if [ "$1" = release ]; then echo "$ROOT/build"; else echo "$ROOT/build-$1"; fi
}

# Sources compiled together: a third of the time. OFF compiles each by itself, as a developer's own build does.
UNITY=ON

# build_preset PRESET [CMAKE_OPTION...]
build_preset() {
    local preset=$1 folder options
    shift
    folder=$(build_folder "$preset")
    options=(-DCMAKE_UNITY_BUILD="$UNITY" -DCMAKE_UNITY_BUILD_BATCH_SIZE=12 "$@")
    if command -v ccache >/dev/null; then
        options+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
    fi
    mkdir -p "$folder"
    (cd "$ROOT" && quietly "$folder/configure.log" cmake --preset "$preset" "${options[@]}") || return
    (cd "$ROOT" && quietly "$folder/build.log" cmake --build --preset "$preset" -j "$(nproc)")
}
