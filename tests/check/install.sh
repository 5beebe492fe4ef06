#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# install.sh - what is installed works elsewhere: the shell, the Tcl package and their data are packed as a .deb,
# unpacked into an empty folder, and run there with an empty environment. tests/check/deb.sh builds the real package.
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
builddir=${builddir:-$srcdir/build}
n=0
tell() { # RESULT TITLE ?MORE?
    n=$((n + 1))
    [ "$1" = 0 ] && echo "ok $n - $2" || { echo "not ok $n - $2"; printf '%s\n' "$3" | sed 's/^/# /'; }
}

if ! command -v dpkg-deb >/dev/null || ! command -v ldd >/dev/null; then
    echo "1..0 # SKIP there is no dpkg-deb or ldd"
    exit 0
fi
if [ "$THARSIS_SANITIZERS" = yes ]; then
    echo "1..0 # SKIP a build with sanitizers is not installed"
    exit 0
fi
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

# As make install does, without the manual in HTML, and with one system that only this installation has.
made=$(make -s -C "$builddir" DESTDIR="$folder/root" prefix=/usr libdir=/usr/lib install-binPROGRAMS \
    install-packagePROGRAMS install-packageDATA install-man1 install-dist_bashcompletionDATA 2>&1)
tell $? "the parts are installed" "$made"
mkdir -p "$folder/root/usr/share/tharsis/topology/systems" "$folder/root/DEBIAN" "$folder/empty"
sed 's/^name = .*/name = "only_here";/' "$srcdir/topology/systems/ring8.cfg" \
    >"$folder/root/usr/share/tharsis/topology/systems/only_here.cfg"
printf 'Package: tharsis\nVersion: 0\nArchitecture: all\nMaintainer: nobody <nobody@localhost>\nDescription: test\n' \
    >"$folder/root/DEBIAN/control"
made=$(dpkg-deb --root-owner-group -Znone -b "$folder/root" "$folder/tharsis.deb" 2>&1 &&
    dpkg-deb -x "$folder/tharsis.deb" "$folder/empty" 2>&1)
tell $? "a package is made and unpacked" "$made"
rm -rf "$folder/root"

cd "$folder/empty" || exit 1
lacking=$(find usr -type f \( -name tharsis -path '*bin*' -o -name '*.so' \) -exec ldd {} + | grep 'not found')
[ -z "$lacking" ]
tell $? "every library is found" "$lacking"

script='read_system only_here; create_program p; add_transfer -from 0 -to 1 -bytes 1MB; run; puts [now]'
shell=$(echo "$script" | env -i usr/bin/tharsis -no_init -exit 2>&1)
[ "$shell" = "$(echo "$shell" | grep '^[0-9.]*us$')" ]
tell $? "the shell runs with an empty environment, and finds its data" "$shell"

tclsh=$(command -v tclsh8.6 || command -v tclsh)
if [ -n "$tclsh" ] && [ -e usr/lib/tharsis/libtharsistcl.so ]; then
    said=$(echo "package require tharsis; namespace import tharsis::*; $script" |
        env -i TCLLIBPATH="$PWD/usr/lib/tharsis" "$tclsh" 2>&1)
    [ "$said" = "$shell" ]
    tell $? "the package in a plain tclsh says the same" "$said"
else
    tell 0 "the package in a plain tclsh # SKIP there is no tclsh, or no shared library"
fi

if command -v man >/dev/null; then
    said=$(man -l usr/share/man/man1/tharsis.1 2>&1 | grep -c 'SYNOPSIS')
    [ "$said" -ge 1 ]
    tell $? "the manual page is shown" "$said"
else
    tell 0 "the manual page # SKIP there is no man"
fi

if command -v bash >/dev/null; then
    options=$(env -i usr/bin/tharsis -help | grep -oE '(^|[ [])-[a-z_]+' | tr -d ' [' | sort -u)
    offered=$(bash -c 'source usr/share/bash-completion/completions/tharsis; COMP_WORDS=(tharsis -); COMP_CWORD=1
        _tharsis; printf "%s\n" "${COMPREPLY[@]}"' | sort -u)
    [ "$options" = "$offered" ]
    tell $? "completion offers every option" "$(printf 'help: %s\ncompletion: %s' "$options" "$offered" | tr '\n' ' ')"
else
    tell 0 "completion # SKIP there is no bash"
fi
echo "1..$n"
