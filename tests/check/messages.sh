#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# messages.sh - every error id stands at one place in the source, and a test provokes it.
#   tests/check/messages.sh          checks, in TAP
#   tests/check/messages.sh --list   prints the page docs/messages.md, which make writes
# An id is a string literal like "BASE-0001", in Tcl a word, before the message.
cd "${srcdir:-$(dirname "$0")/../..}" || exit 1
AWK=${AWK:-awk}

# id, file, line and format of every message, separated by tabs, in the order of the ids.
messages() {
    {
        find base topology workloads predictor sim mapper training session render tcl -name '*.[ch]' 2>/dev/null |
            xargs "$AWK" "$scan"
        "$AWK" "$scan_tcl" lib/*.tcl
    } | LC_ALL=C sort -t "$(printf '\t')" -k 1,1 -k 2,2 -k 3,3n
}

# Cuts C into comments, literals and the rest. Literals right behind the id are its message (names among
# them are printf macros: PRId64 is shown as %d). Where another argument comes first, a helper makes up
# the message: then it is the name of the helper and the literals that it is given, and where the
# helper is an X_unknown, the kind of name that it is given.
scan='
function emit() {
    if (id != "")
        printf "%s\t%s\t%d\t%s\n", id, file, at, is_direct && helper !~ /unknown/ ? text : made_by_helper()
    id = ""
}
# A helper that lists known names is given the kind of name last.
function made_by_helper() {
    if (helper !~ /unknown/)
        return helper text
    return (last == "" ? "name" : last) " \\\"%s\\\": must be one of ..."
}
function begin(literal) {
    emit()
    id = literal; at = FNR; text = ""; last = ""; is_direct = 0; n_tokens = 0
    helper = call[depth]; sub(/^th_/, "", helper); gsub(/_/, " ", helper)
}
function add_literal(literal) {
    if (n_tokens == 1)
        is_direct = 1
    text = text (is_direct ? "" : " ") literal
    last = literal
}
function add_word() {
    if (is_direct && word ~ /^PRI/)
        text = text "d"
    else if (is_direct)
        emit()
    n_tokens++
}
function add_sign(sign) {
    if (sign == "(")
        call[++depth] = word
    else if (sign == ")" && depth > 0)
        depth--
    if (is_direct || sign == ";")
        emit()
    n_tokens++
}
FNR == 1 {
    emit()
    file = FILENAME; word = ""; depth = n_tokens = in_comment = is_direct = 0
    split("", call)
}
{
    line = $0
    while (line != "") {
        if (in_comment) {
            end = index(line, "*/")
            if (!end)
                break
            line = substr(line, end + 2); in_comment = 0
        } else if (match(line, /^[ \t]+/)) {
            line = substr(line, RLENGTH + 1)
        } else if (substr(line, 1, 2) == "/*") {
            line = substr(line, 3); in_comment = 1
        } else if (substr(line, 1, 2) == "//") {
            break
        } else if (match(line, /^"([^"\\]|\\.)*"/)) {
            literal = substr(line, 2, RLENGTH - 2); line = substr(line, RLENGTH + 1)
            if (literal ~ /^[A-Z]+-[0-9][0-9][0-9][0-9]$/)
                begin(literal)
            else if (id != "")
                add_literal(literal)
        } else if (match(line, /^[A-Za-z_][A-Za-z_0-9]*/)) {
            word = substr(line, 1, RLENGTH); line = substr(line, RLENGTH + 1); add_word()
        } else if (match(line, /^\047([^\047\\]|\\.)+\047/)) {
            line = substr(line, RLENGTH + 1); n_tokens++
        } else {
            add_sign(substr(line, 1, 1)); line = substr(line, 2)
        }
    }
}
END { emit() }'

# The quoted word behind an id, on the line or the next one; what Tcl puts into it is %s.
scan_tcl='
function emit(at, line) {
    id = substr(line, RSTART, RLENGTH)
    is_unknown = substr(line, 1, RSTART) ~ /fail_(if_)?unknown/
    line = substr(line, RSTART + RLENGTH)
    while (line ~ /\\$/ && getline next_line > 0) {
        sub(/^[ \t]+/, " ", next_line)
        sub(/\\$/, "", line)
        line = line next_line
    }
    if (!match(line, /^ +"([^"\\]|\\.)*"/))
        line = ""
    else
        line = substr(line, RSTART + index(substr(line, RSTART), "\""), RLENGTH)
    sub(/"[^"\\]*$/, "", line)
    while (sub(/\[[^][]*\]/, "%s", line)) {}
    gsub(/\$[a-z_]+(::[a-z_]+)*/, "%s", line)
    printf "%s\t%s\t%d\t%s\n", id, FILENAME, at, line (is_unknown ? " \\\"%s\\\": must be one of ..." : "")
}
match($0, /[A-Z]+-[0-9][0-9][0-9][0-9]/) && $0 !~ /^ *#/ { emit(FNR, $0) }'

document() {
    cat <<'END'
# Messages

Every error of Tharsis is one line: its id, then what went wrong, where, and what was expected. `%s` and
`%d` stand for what the user wrote or what was found; messages about a file start with `FILE:LINE:`.
END
    messages | "$AWK" -F '\t' '
        BEGIN { title["BASE"] = "Base: units, files, memory"; title["TOPO"] = "Topology: systems"
                title["COLL"] = "Collectives"; title["NET"] = "Networks"
                title["WORK"] = "Workloads: networks"; title["PRED"] = "Predictor"
                title["SIM"] = "Simulator: machines and programs"; title["MAP"] = "Mapper"
                title["STUDY"] = "Studies"; title["TCL"] = "Commands" }
        { area = $1; sub(/-.*/, "", area); gsub(/\\"/, "\"", $4); gsub(/\\\\/, "\\", $4)
          sub(/^ : [a-z-]*: /, "", $4); sub(/\\n$/, "", $4); gsub(/  /, " ", $4)
          if (area != last) printf "\n## %s\n\n", title[area]
          last = area; printf "- `%s` %s: `%s`\n", $1, $2, $4 }'
}

# report NUMBER NAME FINDINGS: one TAP line, with what was found below it.
report() {
    [ -z "$3" ] && { echo "ok $1 - $2"; return; }
    echo "not ok $1 - $2"
    echo "$3" | sed 's/^/# /'
}

if [ "${1:-}" = --list ]; then
    document
    exit
fi

# No id is excepted: what no test can provoke is no message.
tested=$(mktemp) || exit 1
trap 'rm -f "$tested"' EXIT
grep -rhoE '(BASE|TOPO|WORK|PRED|NET|COLL|SIM|MAP|STUDY|TCL)-[0-9]{4}' tests/unit tests/tcl tests/soak tests/check/mpi.sh |
    LC_ALL=C sort -u >"$tested"

all=$(messages)
ids=$(printf "%s\n" "$all" | cut -f 1 | uniq)
echo 1..5
report 1 "every id has a known area and a message" "$(printf "%s\n" "$all" | "$AWK" -F '\t' '
    $1 !~ /^(BASE|TOPO|WORK|PRED|NET|COLL|SIM|MAP|STUDY|TCL)-/ { print $2 ":" $3 ": " $1 ": no such area" }
    $4 == "" { print $2 ":" $3 ": " $1 ": has no message" }')"
report 2 "every id stands at one place" "$(printf "%s\n" "$all" | "$AWK" -F '\t' '
    $1 == id { print $2 ":" $3 ": " $1 " is taken by " place } { id = $1; place = $2 ":" $3 }')"
report 3 "every id stands in a test that provokes it" "$(echo "$ids" |
    LC_ALL=C comm -23 - "$tested" | sed 's/$/: is provoked by no test in tests\/unit, tests\/tcl, tests\/soak and tests\/check\/mpi.sh/')"
report 4 "tests name no id that there is not" "$(echo "$ids" |
    LC_ALL=C comm -13 - "$tested" | sed 's/$/: is in tests, and no message has it/')"

# th_warn(call, "ID", ...) over all lines of it; tcl/warning.c has {"AREA", number}.
warned=$(find tcl -name '*.c' | LC_ALL=C sort | xargs cat | tr -s '\n\t ' ' ' |
    grep -oE 'th_warn\( ?[^,;"]*, "[A-Z]+-[0-9]+"' | grep -oE '[A-Z]+-[0-9]+' | LC_ALL=C sort -u)
known=$(sed -nE 's/^ *\{"([A-Z]+)", ([0-9]+)\},.*/\1 \2/p' tcl/warning.c |
    while read -r area number; do printf '%s-%04d\n' "$area" "$number"; done)
report 5 "suppress_message knows every warning" "$(for id in ${warned:-none}; do
    echo "$known" | grep -qx "$id" || echo "$id: is not in the table of tcl/warning.c"
done)"
