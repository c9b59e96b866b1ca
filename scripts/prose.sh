#!/bin/bash
# prose.sh: counts the phrases that docs/dev/style.md advises against, per folder.
set -euo pipefail
cd "$(dirname "$0")/.."

# A name, and a pattern of grep -P.
patterns=(
    'opens with "What"|(//[/!]?|^#+|^-) What '
    'opens with "Whether"|(//[/!]?|^#+|^-) Whether '
    '"is no X"|(?<![Tt]here)(?<!that) is no (?!longer|more\b)[a-z]'
    '"stands"|\bstands\b(?! for| in for)'
    '"behind" for "after"|\bbehind (it|the|this|them|each)\b'
    '"an operation" for "per operation"|\bone [a-z]+ an? (operation|lane|profile|shader)\b'
)
# The style page itself quotes them.
folders=(src tests docs benches examples README.md)

printf '%-40s' 'phrase'
printf '%10s' "${folders[@]%.md}"
echo
for row in "${patterns[@]}"; do
    printf '%-40s' "${row%%|*}"
    for folder in "${folders[@]}"; do
        count=$({ grep -rhoP --include='*.rs' --include='*.md' --include='*.sh' --exclude-dir=operations --exclude=style.md -- "${row#*|}" "$folder" || true; } | wc -l)
        printf '%10s' "$count"
    done
    echo
done
