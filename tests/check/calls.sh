#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# calls.sh - files are opened, asked about and removed, programs started and interpreters made where the policy of
# the caller is asked (base/files/open_file.h, tcl/safe_interp.h), or where this list says why not.
# One TAP line per file that has such calls, and one for lines of the list that no file needs any more.
cd "${srcdir:-.}" || exit 1
LC_ALL=C
export LC_ALL

# FILE: CALLS # why they need not ask
allowed() {
    cat <<'LIST'
base/files/data_file.c: realpath # the program's own folder, to find what was installed with it
base/files/open_file.c: open fdopen stat realpath # they are the policy
base/files/write_file.c: stat lstat readlink faccessat rename unlink # behind th_file_may of the target; new files are beside it
predictor/regress/boost.c: dlopen # XGBoost, by a name that the build gives
predictor/regress/mlp_train.c: dlopen # a library of numerics, by a name that the build gives
render/plot/gnuplot.c: tmpfile posix_spawnp # behind starts_no_programs; the files have no name
session/query/query.c: sqlite3_open_v2 # in memory, and it may not attach a file
session/store.c: sqlite3_open_v2 # behind th_file_may; its journal is beside it
tcl/core/core_study.c: Tcl_FSGetNormalizedPath # a name, no file
tcl/commands/cmd_write.c: Tcl_FSGetNormalizedPath # a name, no file
tcl/files.c: Tcl_FSMatchInDirectory # names in the folders of Tharsis, and of THARSIS_PATH where the policy has no folders
tcl/safe_interp.c: Tcl_CreateInterp Tcl_CreateSlave # they give the policy
tcl/shell/confine.c: open stat realpath Tcl_FSGetNormalizedPath Tcl_FSRegister # they are the policy, before the script
tcl/shell/line_editor.c: read_history write_history # a person's own, not under -safe
tcl/shell/shell.c: Tcl_CreateInterp Tcl_EvalFile Tcl_FSAccess # an interpreter in which nothing runs; the script; ~/.tharsisrc, not under -safe
tcl/shell/source.c: Tcl_FSOpenFileChannel # the command source, as Tcl has it
tcl/core/item.c: Tcl_OpenFileChannel # /dev/null
tcl/tcl_session.c: Tcl_FSCreateDirectory # behind th_file_may
LIST
}

names='fopen|fopen64|fdopen|freopen|open|open64|openat|creat|mkstemps?|mkdtemp|tmpfile|tmpnam|opendir|scandir|nftw|glob'
names="$names|stat|lstat|fstatat|access|faccessat|realpath|readlink|unlink|unlinkat|remove|rename|renameat|link|symlink"
names="$names|mkdir|rmdir|chdir|chmod|fchmodat|chown|lchown|utimes?|utimensat|truncate|mkfifo"
names="$names|popen|system|fork|vfork|exec[lv][pe]*|posix_spawnp?|dlopen|socket|connect|kill|pthread_kill_other"
names="$names|sqlite3_open(_v2|16)?|config_read(_file)?|json_load_file|json_dump_file|gzopen|lzma_file|(read|write|append)_history"
names="$names|Tcl_Create(Interp|Slave|Child)|Tcl_OpenFileChannel|Tcl_OpenCommandChannel|Tcl_OpenTcpClient|Tcl_EvalFile"
names="$names|Tcl_FS(OpenFileChannel|EvalFile|EvalFileEx|Stat|Lstat|Access|MatchInDirectory|CreateDirectory|DeleteFile"
names="$names|RenameFile|CopyFile|Utime|Chdir|Link|RemoveDirectory|FileAttrsGet|FileAttrsSet|Register|GetNormalizedPath|LoadFile)"

# FILE CALL, once each: calls, not members of structures, not words of comments and texts, not functions that are
# declared or defined here.
calls() {
    find base topology workloads predictor sim mapper training session render tcl -name '*.c' ! -name '*.pb-c.c' | sort |
        xargs "${AWK:-awk}" -v names="^($names)\$" '
        FNR == 1 { is_comment = 0 }
        {
            line = $0
            gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
            gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "", line)
            if (is_comment) { if (!sub(/^.*\*\//, "", line)) next; is_comment = 0 }
            if (sub(/\/\*.*$/, "", line)) is_comment = 1
            if (line ~ /^[a-z].*[a-z0-9_]\(.*[^;]$/ && match(line, /[A-Za-z0-9_]+\(/))
                own[FILENAME, substr(line, RSTART, RLENGTH - 1)] = 1
            while (match(line, /(->|\.)?[A-Za-z_][A-Za-z0-9_]*\(/)) {
                call = substr(line, RSTART, RLENGTH - 1)
                line = substr(line, RSTART + RLENGTH)
                if (call ~ names && !((FILENAME, call) in own) && !((FILENAME, call) in seen)) {
                    seen[FILENAME, call] = 1
                    print FILENAME, call
                }
            }
        }'
}

found=$(calls)
files=$(echo "$found" | cut -d' ' -f1 | sort -u)
echo "1..$(($(echo "$files" | wc -l) + 1))"
n=0
for file in $files; do
    n=$((n + 1))
    list=" $(allowed | sed -n "s|^$file: \([^#]*\)#.*|\1|p") "
    extra=
    for call in $(echo "$found" | sed -n "s|^$file ||p"); do
        case $list in *" $call "*) ;; *) extra="$extra $call" ;; esac
    done
    if [ -z "$extra" ]; then
        echo "ok $n - $file"
    else
        echo "not ok $n - $file: calls$extra: th_file_open, th_file_stat, ... ask the policy"
    fi
done
unused=$(allowed | while IFS=: read -r file rest; do
    for call in ${rest%%#*}; do
        echo "$found" | grep -qx "$file $call" || echo "# $file: $call"
    done
done)
n=$((n + 1))
[ -z "$unused" ] && echo "ok $n - all that is allowed is needed" || printf 'not ok %d - all that is allowed is needed\n%s\n' $n "$unused"
