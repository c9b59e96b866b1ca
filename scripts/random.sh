#!/bin/bash
# Random kernels of every kind: scripts/random.sh SEED:COUNT [PLACE...]
#
#   PLACE is cpu (the default: interpreters of every target's text, and lavapipe), or a GPU: cuda (PTX), gl (NVIDIA assembly),
#   vulkan (SPIR-V).
#
# Prints how many were right, refused and wrong, by target and kind, and keeps the messages in target/random. Kernels that do not
# end are listed under HANGS; a GPU then continues with the next kind. CROSSLANE_WATCHDOG is the timeout in seconds, 300 by default.
# JUDGED is the test binary to run, if it is already built.
set -euo pipefail

seeds=${1:?SEED:COUNT}
shift
[ $# -gt 0 ] || set -- cpu
cd "$(dirname "$0")/.."
export CROSSLANE_JUDGES=${CROSSLANE_JUDGES:-$PWD/target/judges} CROSSLANE_RANDOM=$seeds
kept=$PWD/target/random
mkdir -p "$kept"
if [ -z "${JUDGED:-}" ]; then
    JUDGED=$(cargo test --profile ci --test judged --no-run --message-format=json |
        sed -n 's/.*"executable":"\([^"]*judged[^"]*\)".*/\1/p' | tail -1)
fi

kinds=(random lanes arms wide formulas memory waits names)
modules=(seeds wide formulas arms memory waits lines)
amd=(gfx701 gfx900 gfx950 gfx1030-wave64 gfx1100-wave32 gfx1201-wave32)

# run NAME FILTER [VARIABLE=VALUE...]: one group of tests, which need not all pass.
run() {
    local log=$kept/$1.log filter=$2
    shift 2
    env "$@" "$JUDGED" "$filter" > "$log" 2>&1 || true
    grep -hE '^HANGS' "$log" || true
    sed -n '/^random kernels:/,$p' "$log" | grep -E 'right' || echo "  $filter: nothing was counted; see $log"
}

for place in "$@"; do
    for kind in "${kinds[@]}"; do
        case $place in
            cpu)
                run "nv-$kind" "nv::$kind::seeds_"
                run "ptx-$kind" "ptx::$kind::seeds_"
                for profile in "${amd[@]}"; do run "$profile-$kind" "amd::$kind::$profile::"; done
                ;;
            cuda) run "cuda-$kind" "ptx::$kind::seeds_" CROSSLANE_CUDA=1 ;;
            gl) run "gl-$kind" "nv::$kind::seeds_" CROSSLANE_GL=1 ;;
        esac
    done
    for kind in "${modules[@]}"; do
        case $place in
            cpu) run "spirv-$kind" "random::${kind}_" CROSSLANE_LANGUAGES= ;;
            vulkan) run "vulkan-$kind" "random::${kind}_" CROSSLANE_LANGUAGES= CROSSLANE_DRIVER_LANES=32 ;;
        esac
    done
done
