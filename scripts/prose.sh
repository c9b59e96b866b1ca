#!/bin/bash
# prose.sh: counts the phrases that docs/dev/style.md advises against, per folder.
set -euo pipefail
cd "$(dirname "$0")/.."

# A name, and a pattern of grep -E.
patterns=(
    'opens with "What"|(//[/!]?|^#+|^-) What '
    'opens with "Whether"|(//[/!]?|^#+|^-) Whether '
    '"is no X"|[a-z] is no [a-z]'
    '"stands"|\bstands\b( [^f]|$)'
    '"behind" for "after"|\bbehind (it|the|this|them|each|a)\b'
    '"an operation" for "per operation"|\b(one|once) [a-z]+ an? (operation|lane|profile|shader)\b'
)
folders=(src tests docs benches examples scripts README.md)

printf '%-40s' 'phrase'
printf '%10s' "${folders[@]%.md}"
echo
for row in "${patterns[@]}"; do
    printf '%-40s' "${row%%|*}"
    for folder in "${folders[@]}"; do
        count=$({ grep -rhoE --include='*.rs' --include='*.md' --include='*.sh' --exclude-dir=operations -- "${row#*|}" "$folder" || true; } | wc -l)
        printf '%10s' "$count"
    done
    echo
done
