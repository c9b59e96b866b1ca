#!/bin/bash
# prose.sh: counts the phrases that docs/dev/style.md advises against, per folder.
set -euo pipefail
cd "$(dirname "$0")/.."

# A name, and a pattern of grep -P.
patterns=(
    'opens with "What"|(//[/!]?|^#+|^-) What '
    'opens with "Whether"|(//[/!]?|^#+|^-) Whether '
    'opens with "Which" or "Who"|(//[/!]?|^-) (Which|Who|Whose) '
    '"is no X"|(?<![Tt]here)(?<!that) is no (?!longer|more\b)[a-z]'
    '"stands"|\bstands?\b(?! for| in for|-in| alone)'
    '"behind" for "after"|\bbehind (it|the|this|them|each)\b(?! pointer)'
    '"an operation" for "per operation"|\bone [a-z]+ an? (operation|lane|profile|shader)\b(?! that)'
    '"else" for "otherwise"|, else (?!if)[a-z]'
    '"nobody", "whoever"|\b([Nn]obody|[Ww]hoever)\b'
    '"greatest" for "largest"|\bgreatest\b'
    '"by way of" for "through"|\b[Bb]y way of\b'
    '"hangs on" for "depends on"|\bhangs? on\b'
)
# The style page itself quotes them.
folders=(src tests build docs benches examples scripts README.md)

# Comments and texts of Rust, and everything in other files.
prose() {
    grep -rhoP --include='*.rs' -- '//.*|"([^"\\]|\\.)*"' "$1" || true
    grep -rh --include='*.md' --include='*.sh' --exclude-dir=operations --exclude=style.md --exclude=prose.sh -- '' "$1" || true
}

printf '%-40s' 'phrase'
printf '%10s' "${folders[@]%.md}"
echo
for row in "${patterns[@]}"; do
    printf '%-40s' "${row%%|*}"
    for folder in "${folders[@]}"; do
        count=$({ prose "$folder" | grep -oP -- "${row#*|}" || true; } | wc -l)
        printf '%10s' "$count"
    done
    echo
done
