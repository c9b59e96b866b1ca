#!/bin/bash
# test.sh [ARGUMENT...]: runs every test on a Debian machine that has cargo. Arguments go to the test runner.
# test.sh quick: runs the unit tests and the tests of the command, messages, listings and interpreters, without any judge. Left
# out are the proofs of plans, random input, the sweeps over the whole catalog, and all but one processor of each kind.
#
# As root it installs the Debian packages that the tests need; otherwise it lists the missing ones. The programs that
# judge the output are unpacked under target/judges (judges.sh). Without them the tests that need them are reported as
# skipped; with CI=true that is a failure. CROSSLANE_JUDGES names another folder for them.
set -euo pipefail
cd "$(dirname "$0")/.."

# gcc links the tests; lavapipe links to the next two; llvm-mc reads the AMD output; ninja, cmake and meson run the build rules
# for them; the rest compiles the loaders under examples.
packages=(gcc libc6-dev libvulkan1 mesa-vulkan-drivers llvm-19 ninja-build cmake meson g++ libvulkan-dev libegl-dev libgl-dev)
# These support newer processors; not every mirror has them.
extra_packages=(llvm-22 lld-22)
# npm fetches Dawn, and Node.js runs it.
command -v npm > /dev/null || packages+=(nodejs npm)
# pip fetches CUDA's assembler.
python3 -m pip --version > /dev/null 2>&1 || packages+=(python3-pip)

missing() {
    local package
    for package in "${packages[@]}"; do
        dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' ||
            echo "$package"
    done
}

install_packages() {
    local wanted
    mapfile -t wanted < <(missing)
    [ ${#wanted[@]} -gt 0 ] || return 0
    if [ "$(id -u)" -eq 0 ]; then
        apt-get -qq update
        DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends "${wanted[@]}" > /dev/null
        DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends "${extra_packages[@]}" \
            > /dev/null || echo "test.sh: going on without ${extra_packages[*]}" >&2
    else
        echo "test.sh: please install first: apt-get install ${wanted[*]}" >&2
        return 1
    fi
}

fetch_judges() {
    install_packages && bash scripts/judges.sh "$CROSSLANE_JUDGES"
}

test=(cargo test --profile ci -p crosslane)

if [ "${1:-}" = quick ]; then
    slow=(matrix:: fixtures:: ::seeds_ recognizer:: lane::check:: extremes:: fuzz:: forms:: interpreter:: loaders:: cmake::
        estimates:: truth:: shown_lines_of_operations every_shape the_example_builds_and_runs)
    export CROSSLANE_QUICK=1 CI=false CROSSLANE_JUDGES=/nonexistent
    exec "${test[@]}" --lib --test tool --test judged -- "${slow[@]/#/--skip=}"
fi

CROSSLANE_JUDGES=$(realpath --canonicalize-missing "${CROSSLANE_JUDGES:-target/judges}")
export CROSSLANE_JUDGES
if ! fetch_judges; then
    [ "${CI:-}" != true ] || exit 1
    echo "test.sh: going on without judges: tests that need them are skipped" >&2
fi
# Every SPIR-V module made by any test is validated.
[ ! -x "$CROSSLANE_JUDGES/bin/spirv-val" ] || export CROSSLANE_SPIRV_VAL=$CROSSLANE_JUDGES/bin/spirv-val

if [ $# -gt 0 ]; then
    exec "${test[@]}" "$@"
fi
"${test[@]}" --tests
# Their dependencies are needed by nothing else.
cargo test --profile ci -p crosslane-explorer -p crosslane-schema --tests
"${test[@]}" --doc
