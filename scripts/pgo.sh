#!/bin/bash
# pgo.sh ARGUMENT...: runs cargo with profile-guided optimization, as compilers are released: a quarter less time.
#
#   scripts/pgo.sh build --profile dist
#   scripts/pgo.sh bench -p crosslane-criterion --bench compile
#
# The first run, and each run after a change to the sources, builds an instrumented command and compiles shaders in fixtures/
# with it; benchmarks compile other shaders. The results are in target/pgo: the command is target/pgo/dist/crosslane.
# Uses the llvm-profdata of rustc's own LLVM: rustup component add llvm-tools, or Debian's package of that version.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$PWD/target/pgo
profile=$folder/profile.profdata
# Where cargo puts its output: the parts of benchmarks are in the folder of `release`.
out=dist
[ "$1" != bench ] || out=release

# The program that merges counts; it only reads the format of its own version of LLVM.
profdata() {
    local tools major program
    tools=$(rustc --print target-libdir)/../bin/llvm-profdata
    major=$(rustc --version --verbose | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')
    for program in "$tools" "llvm-profdata-$major"; do
        if command -v "$program" > /dev/null; then
            "$program" "$@"
            return
        fi
    done
    echo "pgo.sh: no llvm-profdata of LLVM $major: rustup component add llvm-tools" >&2
    return 2
}

# The program that the profile was recorded with. Names of functions depend on the rest of the build.
state() {
    { echo "$1" && rustc --version && cat Cargo.lock && find src build grammar profiles fixtures -type f | LC_ALL=C sort | xargs cat; } |
        sha256sum
}

# Compiles every n-th shader for a profile; refused shaders are part of the work.
compile_for() {
    local crosslane=$folder/counting/$out/crosslane shaders at
    shaders=(fixtures/{glsl,core}/*.comp fixtures/wgsl/*.wgsl)
    for ((at = 0; at < ${#shaders[@]}; at += $2)); do
        "$crosslane" compile -p "$1" -D WIDTH=8 -o "$folder/out" "${shaders[at]}" 2> /dev/null || true
    done
}

# Kernels take ten times as long as parsing: if there were as many of them, the front ends would hardly count.
train() {
    local profile_name
    export LLVM_PROFILE_FILE=$folder/counts/%m.profraw
    for profile_name in spirv-1.3 spirv-1.5 spirv-1.6; do
        compile_for $profile_name 1
    done
    for profile_name in nv-volta nv-hopper gfx900 gfx1100-wave64; do
        compile_for $profile_name 8
    done
}

if [ "$(cat "$folder/state" 2> /dev/null)" != "$(state "$1")" ]; then
    rm -rf "$folder/counts"
    mkdir -p "$folder"
    [ "$1" != bench ] || [[ " $* " == *" --no-run "* ]] || stop=--no-run
    export RUSTFLAGS="-Cprofile-generate=$folder/counts" CARGO_TARGET_DIR=$folder/counting
    cargo "$@" ${stop:-}
    [ "$1" != bench ] || cargo build --profile bench
    train
    profdata merge --output "$profile" "$folder/counts"
    state "$1" > "$folder/state"
fi
RUSTFLAGS="-Cprofile-use=$profile" CARGO_TARGET_DIR=$folder cargo "$@"
