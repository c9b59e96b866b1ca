#!/bin/bash
# targets.sh [TARGET...]: checks that the crate compiles for other machines, with `cargo check`; without arguments, for all that
#   CI checks. For WebAssembly, only the library and the explorer are checked.
# targets.sh sysroot TARGET: builds a standard library for TARGET and prints the folder that holds it, for
#   RUSTFLAGS="--sysroot=$(scripts/targets.sh sysroot wasm32-unknown-unknown)" \
#       cargo build --target wasm32-unknown-unknown --no-default-features --lib
#
# `rustup target add TARGET` adds a target's standard library to the toolchain, and it is used from there. Where that is not
# possible, it is compiled under target/targets from Debian's package rust-src of the toolchain's version. If Debian lacks that
# version, targets.sh reports it and checks the same parts of the crate for this machine: CI's job `targets` has rustup.
set -euo pipefail
cd "$(dirname "$0")/.."

all=(wasm32-unknown-unknown x86_64-pc-windows-gnu aarch64-apple-darwin aarch64-unknown-linux-musl)
home=$PWD/target/targets
version=$(rustc --version | cut -d ' ' -f 2)
toolchain=$(rustc --print sysroot)
library=$home/source/root/usr/src/rustc-$version/library

fail() { echo "targets.sh: $*" >&2; exit 2; }
. scripts/debian.sh

# Fetches the sources of the standard library, once.
source_of_library() {
    [ ! -e "$library/Cargo.lock" ] || [ -e "$home/source/deb" ] || return 0
    command -v apt-get > /dev/null || return 1
    rm -rf "$home/source"
    echo "targets.sh: fetching the standard library's sources" >&2
    local members=(--wildcards './usr/src/rustc-*/library')
    fetch "$home/source" "trixie trixie-backports forky sid" "rust-src=$version*" >&2
}

# standard_library check|build TARGET: compiles the standard library, once, into a sysroot that has the toolchain's own parts too.
# `check` only makes the files that `cargo check` reads.
standard_library() {
    local how=$1 target=$2 features=panic-unwind,backtrace part file
    local sysroot=$home/$how/sysroot/lib/rustlib mark=$home/$how/$target.made
    [ "$(cat "$mark" 2>/dev/null)" != "$version" ] || return 0
    source_of_library || return
    rm -rf "${sysroot:?}/$target"
    mkdir -p "$sysroot/$target/lib"
    for part in "$toolchain"/lib/rustlib/*; do
        ln -sfn "$part" "$sysroot/${part##*/}"
    done
    case $target in wasm*) features=panic-unwind,compiler-builtins-mem ;; esac
    # The standard library uses features hidden from stable code, and marks everything not declared stable as unstable.
    RUSTC_BOOTSTRAP=1 __CARGO_DEFAULT_LIB_METADATA=std RUSTFLAGS='-Zforce-unstable-if-unmarked -Cembed-bitcode=yes' \
        cargo "$how" --quiet --locked --release --manifest-path "$library/sysroot/Cargo.toml" --target "$target" \
        --target-dir "$home/$how/library" --features "$features" >&2 || return
    for file in "$home/$how/library/$target"/release/deps/*.{rlib,rmeta}; do
        [ ! -e "$file" ] || [ -e "$sysroot/$target/lib/$(basename "$file" .rmeta).rlib" ] || ln "$file" "$sysroot/$target/lib/"
    done
    echo "$version" > "$mark"
}

has_target() {
    ls "$toolchain/lib/rustlib/$1/lib"/libstd-*.rlib > /dev/null 2>&1
}

check() {
    local target=$1 flags="" options=() name=${1//-/_}
    case $target in wasm*) options=(--no-default-features --lib -p crosslane -p crosslane-explorer) ;; esac
    if ! has_target "$target"; then
        if ! standard_library check "$target"; then
            echo "targets.sh: $target is skipped: neither the toolchain nor Debian has a standard library for it" >&2
            cargo check --quiet --locked "${options[@]}"
            return
        fi
        flags=--sysroot=$home/check/sysroot
    fi
    echo "targets.sh: checking $target" >&2
    # A check reads no object files, so a C compiler that makes none is enough for the dependency written in C.
    env "CC_$name=true" "AR_$name=true" "CARGO_TARGET_${name^^}_RUSTFLAGS=$flags" \
        cargo check --quiet --locked --target "$target" --target-dir "$home" "${options[@]}"
}

if [ "${1:-}" = sysroot ]; then
    [ $# -eq 2 ] || fail "sysroot takes a target"
    standard_library build "$2" || fail "no standard library of Rust $version for $2"
    echo "$home/build/sysroot"
    exit
fi
[ $# -gt 0 ] || set -- "${all[@]}"
for target in "$@"; do
    check "$target"
done
