#!/bin/bash
# prose.sh: counts the phrases and the classes of sentences that docs/dev/style.md advises against, per folder.
# `prose.sh CLASS` prints the lines in the classes whose names match, to edit them.
set -euo pipefail
cd "$(dirname "$0")/.."

# A name, and a pattern of grep -P.
patterns=(
    'opens with "What"|(//[/!]?|^-) What '
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
    'opens with a pronoun|(^|(//[/!]?|[.!?]|^-|^\||"|: ) ?)(The same|Those|These|It|They|Such)(?= (is|are|was|were|has|have|do|does|can|may|must|take|takes|goes|go|lies|in|by|of|for|with|to|that)\b|[,.;:])'
    '"that of", "those that"|\b(that of|those (that|which|of|with|in|who))\b'
    '"so many"|\bso (many|much|few|long)\b(?! as| that)'
    'vague verbs|\b(go(es)? on|lies?|stands?|gives? out|says?|said|minds?)\b'
    '"of its own"|\bof (its|their|your|our|his) own\b'
    'passive, then a preposition|\b(is|are|was|were|be|been) [a-z]+(ed|en|ut|ld|de|un) (about|at|by|for|from|in|into|of|on|to|with)(?=[.,;:)]|$| (and|or|but)\b)'
    '"by which", "of which"|\b(by|of|from|in|to|with|for|on) (which|whose)\b'
    '"in the place of"|\bin the place of\b'
    'a relative clause where a noun fits|\bwhat ([a-z]+ ){0,2}(is|are|has|have|can|may|must|does|do|makes?|takes?|needs?)\b'
)
# The style page itself quotes them.
folders=(src tests build docs benches examples scripts README.md)

# Comments and strings in Rust, and everything in other files.
prose() {
    grep -rhoP --include='*.rs' -- '//.*|"([^"\\]|\\.)*"' "$1" || true
    grep -rh --include='*.md' --include='*.sh' --exclude-dir=operations --exclude=style.md --exclude=prose.sh -- '' "$1" || true
}

if [ $# -gt 0 ]; then
    for row in "${patterns[@]}"; do
        [[ "${row%%|*}" == *"$1"* ]] || continue
        grep -rnP --include='*.rs' --include='*.md' --include='*.sh' --exclude-dir=operations --exclude=style.md \
            --exclude=prose.sh -- "${row#*|}" "${2:-.}" | grep -P '^[^:]*\.(md|sh):|//|"' || true
    done
    exit
fi

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
