# SPDX-License-Identifier: GPL-3.0-or-later
# embed.awk - files as C texts: awk -v header=HEADER -f embed.awk report.html report.css a.js b.js ...
# HEADER declares the texts.
# Files of one kind stand behind each other. The remark with the licence on top of each is left out.
BEGIN {
    name["html"] = "th_html_skeleton"; name["css"] = "th_html_style"; name["js"] = "th_html_script"
    name["tcl"] = "th_lib_script"
    print "/* Made by embed.awk; not edited by hand. */"
    print "#include <config.h>"
    print "#include \"" header "\""
}
FNR == 1 {
    kind = FILENAME
    sub(/.*\./, "", kind)
    if (kind != last) {
        if (last != "")
            print "    \"\";"
        printf "\nconst char %s[] =\n", name[kind]
    }
    last = kind
}
FNR == 1 && /SPDX-License-Identifier/ { next }
# Scripts of pages are carried by every page: without what only their readers need.
kind == "js" && /^ *\/\// { next }
kind == "js" || kind == "css" { sub(/^ +/, "") }
{
    gsub(/\\/, "&&")
    gsub(/"/, "\\\"")
    print "    \"" $0 "\\n\""
}
END { print "    \"\";" }
