#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# manual.sh - the manual in HTML, made from docs/ by cmark-gfm: sh scripts/manual.sh SOURCES MADE FOLDER
# docs/README.md becomes index.html, README.md about.html, docs/X.md X.html, as is MADE/messages.md, which make writes; pictures are copied. Links between pages
# lead to the pages in HTML, headings get the names that forges give them, and links to other files of the source
# tree lose their link.
set -eu
sources=$1 made=$2 out=$3
AWK=${AWK:-awk}
rm -rf "$out"
mkdir -p "$out/commands" "$out/models" "$out/pictures"
cp "$sources"/docs/pictures/*.svg "$out/pictures/"
cat >"$out/style.css" <<'END'
:root { color-scheme: light dark; --edge: #8885; --quiet: #8882; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; overflow-wrap: break-word; }
nav { border-bottom: 1px solid var(--edge); padding-bottom: .5rem; }
pre, code { font: .875rem/1.4 ui-monospace, monospace; }
pre { background: var(--quiet); padding: .75rem; overflow-x: auto; overflow-wrap: normal; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
pre:has(code[class]) { border-left: 3px solid #4a8fd0; } /* what is typed; not what is printed */
td:first-child code { white-space: nowrap; }
th, td { border-bottom: 1px solid var(--edge); padding: .25rem .75rem .25rem 0; text-align: left; vertical-align: top; }
img { max-width: 100%; background: white; }
p:has(img) { overflow-x: auto; }
p img { min-width: 36rem; } /* so that its text can be read on a phone */
END

# page UP TITLE: the body on standard input, as a page whose folder is UP (../ or nothing) below the root.
page() {
    "$AWK" -v up="$1" -v title="$2" '
    # The name of a heading: lower case, letters, digits, "-" and "_" of it, spaces as "-".
    function slug(text,    n) {
        gsub(/<[^>]*>/, "", text); gsub(/&[a-z]+;/, "", text)
        text = tolower(text)
        gsub(/[^a-z0-9 _\200-\377-]/, "", text); gsub(/ /, "-", text)
        n = seen[text]++
        return n ? text "-" n : text
    }
    # A link of the page, from the folder of its source to that of the page.
    function target(link,    rest) {
        if (link ~ /^(https?:|mailto:|#)/)
            return link
        rest = ""
        if (match(link, /#.*/)) {
            rest = substr(link, RSTART)
            link = substr(link, 1, RSTART - 1)
        }
        if (about) {
            if (!sub(/^docs\//, "", link))
                return ""
        } else if (index(link, up "../") == 1) {
            return link == up "../README.md" ? up "about.html" rest : ""
        }
        if (link == up "README.md")
            link = up "index.md"
        return link ~ /\.md$/ ? substr(link, 1, length(link) - 3) ".html" rest : link ~ /\.svg$/ ? link : ""
    }
    function fix(line,    done, to, text) {
        done = ""
        while (match(line, /(href|src)="[^"]*"/)) {
            split(substr(line, RSTART, RLENGTH), part, "\"")
            done = done substr(line, 1, RSTART - 1)
            line = substr(line, RSTART + RLENGTH)
            to = target(part[2])
            done = done (to == "" ? "" : part[1] "\"" to "\"")
        }
        line = done line
        # The name of a page in place of that of its source.
        while (match(line, />[a-zA-Z0-9_.\/]+\.md<\/a>/)) {
            text = substr(line, RSTART + 1, RLENGTH - 8)
            sub(/.*\//, "", text)
            line = substr(line, 1, RSTART) (text == "README" ? readme : text) substr(line, RSTART + RLENGTH - 4)
        }
        return line
    }
    BEGIN {
        about = title == "Tharsis"
        readme = about ? "manual" : "about"
        print "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">"
        print "<meta name=\"viewport\" content=\"width=device-width\">\n<title>" title "</title>"
        print "<link rel=\"stylesheet\" href=\"" up "style.css\">\n</head>\n<body>"
        print "<nav><a href=\"" up "index.html\">Manual</a> · <a href=\"" up "tutorial.html\">Tutorial</a> · " \
              "<a href=\"" up "cookbook.html\">Cookbook</a> · <a href=\"" up "commands.html\">Commands</a> · <a href=\"" up "about.html\">About</a></nav>"
    }
    match($0, /^<h[1-6]>/) {
        level = substr($0, 3, 1)
        text = substr($0, 5, length($0) - 9)
        $0 = "<h" level " id=\"" slug(text) "\">" text "</h" level ">"
    }
    { print fix($0) }
    END { print "</body>\n</html>" }'
}

# html UP SOURCE PAGE
html() {
    title=$(sed -n 's/^# //p' "$2" | head -n 1)
    cmark-gfm -e table --unsafe "$2" | page "$1" "$title" >"$out/$3"
}

html '' "$sources/README.md" about.html
html '' "$sources/docs/README.md" index.html
for file in "$sources"/docs/*.md "$made/messages.md"; do
    name=$(basename "$file" .md)
    [ "$name" = README ] || html '' "$file" "$name.html"
done
for folder in commands models; do
    for file in "$sources/docs/$folder"/*.md; do
        html ../ "$file" "$folder/$(basename "$file" .md).html"
    done
done
