#!/bin/bash
# compare.sh CROSSLANE: whole kernels of this compiler against llc -O3 of LLVM 22, as a table of instruction counts.
#
# Each NAME.ll here is the twin of fixtures/glsl/NAME.comp, written by hand with the moves that LLVM has intrinsics for.
# A cell is "ours / LLVM's": instructions of the whole kernel, then those that move values between lanes. Hints that
# change nothing (s_delay_alu, s_clause) and padding are left out, two instructions in one (v_dual_) count as two.
# It fails where a kernel has more instructions than LLVM's, or more that move between lanes.
set -euo pipefail
crosslane=$(realpath "${1:?compare.sh CROSSLANE}")
cd "$(dirname "$0")"

# Processors, each with our profile for what llc makes of it by itself.
targets=(gfx803:gfx803 gfx900:gfx900 gfx90a:gfx90a gfx942:gfx942 gfx1010:gfx1010-wave32 gfx1030:gfx1030-wave32
    gfx1100:gfx1100-wave32 gfx1201:gfx1201-wave32)

# The WIDTH that a twin was written for.
width() { sed -nE 's/.*WIDTH=([0-9]+).*/\1/p' "$1.ll"; }

ours() {
    local wide
    wide=$(width "$1")
    "$crosslane" compile "../../fixtures/glsl/$1.comp" -p "$2" ${wide:+-D WIDTH="$wide"} -o -
}

theirs() { llc-22 -O3 -mtriple=amdgcn-amd-amdhsa -mcpu="$2" "$1.ll" -o -; }

# Two numbers: instructions up to the end of the program, and those that move between lanes.
count() {
    sed -E 's/;.*//; s/^\s+//; s/ :: /\n/' | grep -E '^(v|s|ds|global|flat|buffer|scratch)_' |
        grep -vE '^s_(delay_alu|clause|code_end)' |
        awk '{ all++ } /dpp|quad_perm|row_|ds_swizzle|permute|permlane|readlane|readfirstlane|writelane/ { lanes++ }
            END { print all + 0, lanes + 0 }'
}

within=true
printf '| kernel |'
printf ' %s |' "${targets[@]%%:*}"
printf '\n|---|'
printf -- '---|%.0s' "${targets[@]}"
printf '\n'
for file in *.ll; do
    name=${file%.ll}
    printf '| %s |' "$name"
    for target in "${targets[@]}"; do
        read -r all lanes < <(ours "$name" "${target#*:}" | count)
        read -r their_all their_lanes < <(theirs "$name" "${target%%:*}" | count)
        printf ' %s / %s, %s / %s |' "$all" "$their_all" "$lanes" "$their_lanes"
        ((all <= their_all && lanes <= their_lanes)) || within=false
    done
    printf '\n'
done
$within
