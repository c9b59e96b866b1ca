#!/bin/bash
# sizes.sh [-c PROGRAM] FOLDER...: prints the size in bytes of the SPIR-V for the shaders below each folder, as a Markdown table.
#
# The columns are glslang's modules, those after `spirv-opt -O`, and crosslane's: by default, with -O and with -Os. All are for
# Vulkan 1.3 and without names. Shaders that one of the compilers refuses are left out.
#
#   -c PROGRAM    the crosslane to measure (target/release/crosslane)
#
# CROSSLANE_JUDGES names the folder made by scripts/judges.sh (target/judges). Exit status: 2 if a program is missing.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
judges=${CROSSLANE_JUDGES:-$root/target/judges}/bin
crosslane=$root/target/release/crosslane
while getopts c: option; do
    case $option in
    c) crosslane=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
for program in "$crosslane" "$judges/glslangValidator" "$judges/spirv-opt"; do
    [ -x "$program" ] || { echo "sizes.sh: $program is missing" >&2; exit 2; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

opt() { "$judges/spirv-opt" --target-env=vulkan1.3 --scalar-block-layout --strip-debug "$work/theirs.spv" "$@" 2>"$work/said"; }

# Writes the five modules of a shader; fails if there is no such module.
modules() {
    "$judges/glslangValidator" -V --target-env vulkan1.3 -o "$work/theirs.spv" "$1" >"$work/said" 2>&1 &&
        opt -o "$work/1.spv" &&
        opt -O -o "$work/2.spv" &&
        ours "$1" -O0 3 && ours "$1" -O 4 && ours "$1" -Os 5
}

ours() { "$crosslane" compile -w -p spirv-1.6 --debug=none "$2" "$1" -o "$work/$3.spv" 2>"$work/said"; }

echo '| shaders | number | glslang | glslang, `spirv-opt -O` | crosslane | `-O` | `-Os` |'
echo '|---|---|---|---|---|---|---|'
for folder; do
    number=0 sums=(0 0 0 0 0)
    while IFS= read -r shader; do
        modules "$shader" || continue
        number=$((number + 1))
        for at in 1 2 3 4 5; do
            sums[at - 1]=$((sums[at - 1] + $(stat -c %s "$work/$at.spv")))
        done
    done < <(find "$folder" -type f -regextype posix-extended \
        -regex '.*\.(vert|frag|comp|geom|tesc|tese|mesh|task|rgen|rchit|rmiss|rahit|rint|rcall)' | sort)
    echo "| $folder | $number$(printf ' | %s' "${sums[@]}") |"
done
