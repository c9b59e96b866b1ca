#!/bin/bash
# trial.sh [OPTION]... SET... [-- ARGUMENT...]: compiles shaders with glslang and with crosslane, and lists those only glslang accepts.
#
# A SET is a folder, whose shaders are compiled one by one, or a file of commands: one per line, the arguments of a compiler as
# for glslc, the shader last. For each set it prints how many commands there are, how many glslang accepts, how many of those
# crosslane compiles to SPIR-V that spirv-val accepts, the same by stage, and the rest by reason. Shaders whose name does not
# give the stage are counted separately. The arguments after `--` are only for crosslane.
#
#   -d ARGUMENT   an argument for both compilers, such as -Iinclude or -DNAME=VALUE; may be repeated
#   -e ENV        the target environment (vulkan1.3); a command's own --target-env takes precedence
#   -k PROFILE    compiles the accepted compute shaders for this profile too, and counts its refusals; may be repeated
#   -o DIR        keeps one line per command in DIR/results.tsv: set, result, stage, reason, command
#   -j N          number of parallel runs (the number of processors)
#   -c PROGRAM    the crosslane to try (target/release/crosslane)
#   -w            counts a command that prints warnings as a failure too
#   -t            prints one Markdown table instead: stages by sets, with the reasons below it
#
# CROSSLANE_JUDGES names the folder made by scripts/judges.sh (target/judges). Exit status: 0 if crosslane compiles everything
# that glslang accepts, otherwise 1; 2 if a program is missing.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

usage() { sed -n '2,/^set -/{s/^# \{0,1\}//;/^set -/!p}' "$0" >&2; exit 2; }

# ---- One command: `trial.sh --one SET COMMAND` prints its line of results.tsv. ----

# How long a compiler may take before it counts as hanging.
LIMIT=${TRIAL_LIMIT:-60}

# Splits a command into `arguments` for both compilers, `shader`, `stage` and `environment`.
split() {
    local word words
    arguments=() environment=$TRIAL_ENV stage='' shader=''
    read -ra words <<< "$1"
    for word in "${words[@]}"; do
        case $word in
            --target-env=*) environment=${word#*=} ;;
            -fshader-stage=*) stage=${word#*=} ;;
            -[IDU]*) arguments+=("$word") ;;
            -*) ;;
            *) shader=$word ;;
        esac
    done
    local plain=${shader%.glsl}
    case ${stage:-${plain##*.}} in
        vertex | vert) stage=vert ;;
        fragment | frag) stage=frag ;;
        compute | comp) stage=comp ;;
        geometry | geom) stage=geom ;;
        tesscontrol | tesc) stage=tesc ;;
        tesseval | tese) stage=tese ;;
        task | mesh) stage=${stage:-${plain##*.}} ;;
        raygen | rgen) stage=rgen ;;
        intersection | rint) stage=rint ;;
        anyhit | rahit) stage=rahit ;;
        closesthit | rchit) stage=rchit ;;
        miss | rmiss) stage=rmiss ;;
        callable | rcall) stage=rcall ;;
        *) stage=other ;;
    esac
}

# Runs glslang as glslc does, which allows #include without an extension.
glslang() {
    local plain=(timeout "$LIMIT" "$judges/glslangValidator" -V --target-env "$environment" -S "$stage"
        ${arguments[@]+"${arguments[@]}"} -o "$work/judge.spv" "$shader")
    # The subshell's own message about a glslang that crashes is dropped too.
    ( "${plain[@]}" || "${plain[@]}" '-P#extension GL_GOOGLE_include_directive : enable' ) > /dev/null 2>&1
}

crosslane() {
    local status=0
    timeout "$LIMIT" "$TRIAL_CROSSLANE" compile -fshader-stage="$stage" ${arguments[@]+"${arguments[@]}"} "$@" "$shader" \
        > /dev/null 2> "$work/said" || status=$?
    return "$status"
}

valid() {
    "$judges/spirv-val" --target-env "$environment" --scalar-block-layout "$1" > /dev/null 2> "$work/invalid"
}

# The first error of crosslane, without the names and numbers that differ between shaders with the same reason.
reason() {
    { grep -m1 -E '^(error|thread .* panicked)' "$work/said" || echo 'error without a message'; } |
        sed -E 's/^error//; s/[[:space:]]+/ /g'
}

result() { printf '%s\t%s\t%s\t%s\t%s\n' "$set" "$1" "$stage" "$2" "$command"; }

# The word for an exit status that is not 0.
failure() {
    case $1 in
        1 | 2 | 3) echo refused ;;
        124) echo hang ;;
        *) echo crash ;;
    esac
}

# A failure, unless glslang also makes an invalid module for the shader: then nothing can judge it.
failed() {
    if valid "$work/judge.spv"; then result "$1" "$2"; else result 'invalid by glslang' "$2"; fi
}

spirv() {
    local status=0 extra=()
    [ -z "$TRIAL_EXTRA" ] || read -ra extra <<< "$TRIAL_EXTRA"
    crosslane --target-env="$environment" ${extra[@]+"${extra[@]}"} -o "$work/ours.spv" || status=$?
    if [ "$status" -ne 0 ]; then
        failed "$(failure "$status")" "$(reason)"
    elif ! valid "$work/ours.spv"; then
        failed invalid "$(grep -m1 error "$work/invalid" || echo 'error: unknown')"
    elif [ -n "$TRIAL_WARN" ] && [ -s "$work/said" ]; then
        result warned "$(grep -m1 -oE '^(warning|note).*' "$work/said" || head -n 1 "$work/said")"
    else
        result done ''
    fi
}

# A reported internal error counts as a crash as well.
kernel() {
    local status=0 word
    crosslane -p "$1" -o "$work/kernel" || status=$?
    [ "$status" -ne 0 ] || { result "$1 done" ''; return; }
    word=$(failure "$status")
    ! grep -q '^error\[E0900\]' "$work/said" || word=crash
    result "$1 $word" "$(reason)"
}

one() {
    local profile
    set=$1 command=$2
    judges=${CROSSLANE_JUDGES:-$root/target/judges}/bin
    split "$command"
    if [ "$stage" = other ]; then result 'other stage' ''; return; fi
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    if ! glslang; then result 'refused by glslang' ''; return; fi
    spirv
    [ "$stage" = comp ] || return 0
    for profile in $TRIAL_KERNELS; do kernel "$profile"; done
}

if [ "${1:-}" = --one ]; then one "$2" "$3"; exit; fi

# ---- All of them. ----

both=() keep='' table='' jobs=$(nproc) sets=()
export TRIAL_ENV=vulkan1.3 TRIAL_KERNELS='' TRIAL_WARN='' TRIAL_EXTRA='' TRIAL_CROSSLANE=$root/target/release/crosslane
while [ $# -gt 0 ]; do
    case $1 in
        -d) both+=("$2"); shift ;;
        -e) TRIAL_ENV=$2; shift ;;
        -k) TRIAL_KERNELS+=" $2"; shift ;;
        -o) keep=$2; shift ;;
        -j) jobs=$2; shift ;;
        -c) TRIAL_CROSSLANE=$2; shift ;;
        -w) TRIAL_WARN=1 ;;
        -t) table=1 ;;
        --) shift; TRIAL_EXTRA=$*; break ;;
        -*) usage ;;
        *) sets+=("$1") ;;
    esac
    shift
done
[ ${#sets[@]} -gt 0 ] || usage
[ -x "$TRIAL_CROSSLANE" ] || { echo "trial.sh: no crosslane at $TRIAL_CROSSLANE (-c names another)" >&2; exit 2; }
[ -x "${CROSSLANE_JUDGES:-$root/target/judges}/bin/glslangValidator" ] ||
    { echo "trial.sh: no glslang: run scripts/judges.sh, or set CROSSLANE_JUDGES" >&2; exit 2; }

shaders='.*\.\(vert\|frag\|comp\|geom\|tesc\|tese\|mesh\|task\|rgen\|rint\|rahit\|rchit\|rmiss\|rcall\)\(\.glsl\)?'

# One command per line; a folder's shaders get the arguments for both compilers.
commands() {
    if [ -d "$1" ]; then
        find "$1" -type f -regex "$shaders" | LC_ALL=C sort | sed "s|^|${both[*]+${both[*]} }|"
    else
        cat "$1"
    fi
}

results=${keep:+$keep/results.tsv}
if [ -n "$keep" ]; then mkdir -p "$keep"; else results=$(mktemp); trap 'rm -f "$results"' EXIT; fi
for set in "${sets[@]}"; do
    commands "$set" | tr '\n' '\0' | xargs -0 -r -n 1 -P "$jobs" "$0" --one "$set"
done > "$results"

# Removes the parts of a reason that differ between its shaders.
general='function general(text) {
    gsub(/`[^`]*`/, "`…`", text); gsub(/\|/, "\\\\|", text); gsub(/[0-9]+%?\[[^]]*\]|[0-9]+\[%[^]]*\]/, "N", text); return text
}'
stages='vert frag comp geom tesc tese task mesh rgen rint rahit rchit rmiss rcall'

if [ -n "$table" ]; then
    awk -F '\t' -v stages="$stages all" "$general"'
        function count(of, set, stage) { of[set, stage]++; of[set, "all"]++; of["all", stage]++; of["all", "all"]++ }
        function cell(set, stage) { return (set, stage) in accepted ? compiled[set, stage] + 0 " of " accepted[set, stage] : "" }
        { set = $1; sub(/\/+$/, "", set); sub(/.*\//, "", set) }
        !(set in known) { known[set]; order[++sets] = set }
        $2 ~ /^(done|warned|invalid|refused|crash|hang)$/ {
            count(accepted, set, $3)
            if ($2 == "done") count(compiled, set, $3); else reasons["| " $2 " " general($4) " | " set " | " $3 " | "]++
        }
        END {
            head = "| stage |"; rule = "|---|"
            order[++sets] = "all"
            for (i = 1; i <= sets; i++) { head = head " " order[i] " |"; rule = rule "---|" }
            print head; print rule
            for (at = 1; at <= split(stages, names, " "); at++) {
                line = "| " names[at] " |"
                for (i = 1; i <= sets; i++) line = line " " cell(order[i], names[at]) " |"
                if (("all", names[at]) in accepted) print line
            }
            print "\n| not compiled | set | stage | shaders |\n|---|---|---|---|"
            for (key in reasons) print key reasons[key] " |" | "LC_ALL=C sort"
            close("LC_ALL=C sort")
            exit compiled["all", "all"] < accepted["all", "all"]
        }' "$results"
    exit
fi

awk -F '\t' -v OFS='\t' -v stages="$stages" "$general"'
    $2 ~ / (done|refused|crash|hang)$/ { kernels[$1 "\t" $2]++; if ($4 != "") reasons[$1 "\t" $2 "\t" general($4)]++; next }
    { if (!($1 in commands)) order[++sets] = $1; commands[$1]++; apart[$1 "\t" $2]++ }
    { told[$1 "\t" $3]++ }
    $2 == "other stage" || $2 == "refused by glslang" || $2 == "invalid by glslang" { next }
    { accepted[$1]++; of_stage[$1 "\t" $3]++ }
    $2 == "done" { done[$1]++; done_of[$1 "\t" $3]++; next }
    { reasons[$1 "\t" $2 "\t" general($4)]++ }
    function line(name, all, yes, ours) {
        printf "%s: %d commands, %d accepted by glslang, %d compiled (%.2f %%)\n", name, all, yes, ours, yes ? 100 * ours / yes : 100
    }
    END {
        for (i = 1; i <= sets; i++) {
            set = order[i]
            line(set, commands[set], accepted[set], done[set])
            others = apart[set "\t" "other stage"]
            if (others) printf "  %d of unknown stages\n", others
            for (at = 1; at <= split(stages, names, " "); at++) {
                key = set "\t" names[at]
                if (told[key]) printf "  %-5s %5d shaders, %5d accepted, %5d compiled\n", names[at], told[key], of_stage[key], done_of[key]
            }
            unjudged = apart[set "\t" "invalid by glslang"]
            if (unjudged) printf "  %d more whose module by glslang is invalid\n", unjudged
            for (key in reasons) { split(key, part, "\t"); if (part[1] == set)
                printf "  %5d %s %s\n", reasons[key], part[2], part[3] | "LC_ALL=C sort -rn" }
            close("LC_ALL=C sort -rn")
            for (key in kernels) { split(key, part, "\t"); if (part[1] == set)
                printf "  %s: %d\n", part[2], kernels[key] | "LC_ALL=C sort" }
            close("LC_ALL=C sort")
            all += commands[set]; yes += accepted[set]; ours += done[set]
        }
        if (sets > 1) line("all", all, yes, ours)
        exit ours < yes
    }' "$results"
