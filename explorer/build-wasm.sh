#!/bin/bash
# build-wasm.sh OUTPUT: compiles the compiler for WebAssembly. The target's standard library is the toolchain's if
# `rustup target add wasm32-unknown-unknown` has put one there, else one that scripts/targets.sh makes.
set -euo pipefail
[ $# -eq 1 ] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
output=$(realpath -m "$1")
cd "$(dirname "$0")/.."

target=wasm32-unknown-unknown
command -v cargo > /dev/null || { echo "build-wasm.sh: there is no cargo: install Rust (https://www.rust-lang.org)" >&2; exit 2; }
flags='-Clink-arg=-zstack-size=8388608'
if ! ls "$(rustc --print sysroot)/lib/rustlib/$target/lib"/libstd-*.rlib > /dev/null 2>&1; then
    sysroot=$(scripts/targets.sh sysroot "$target") || {
        echo "build-wasm.sh: no standard library for $target: run \`rustup target add $target\`" >&2
        exit 2
    }
    flags="$flags --sysroot=$sysroot"
fi
RUSTFLAGS=$flags cargo build --quiet --locked -p crosslane-explorer --profile page --target "$target" --target-dir target/page
mkdir -p "$(dirname "$output")"
cp "target/page/$target/page/crosslane_explorer.wasm" "$output"
