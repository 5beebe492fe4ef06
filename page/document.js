// SPDX-License-Identifier: GPL-3.0-or-later
// document.js - builds the page from its document: title, head, contents, and sections with their tables. What
// moves (sorting, the timeline, the picture of a study) other files add.
th.document = JSON.parse(th.find("document").textContent);
(function () {
    const page = th.document;

    // ---- tables ----

    // Longer headings: in text, the heads of stalls and of traffic explain each other side by side.
    const LONGER = {
        stall_input: "stall, input",
        stall_weight: "stall, weight",
        stall_partial: "stall, partial",
        stall_output: "stall, output",
        dram_read: "DRAM read",
        dram_written: "DRAM written",
        roofline: "\u00d7 roofline",
    };

    // The column that names a row comes first. It is the first in text too, except for the critical path, where the
    // task is last. A metric of a study may have that name.
    function orderOf(columns) {
        const isNamed = columns[0].kind === "text" || columns[0].name === "point";
        const lead = isNamed ? 0 : Math.max(0, columns.findIndex((c) => c.name === "what"));
        return [lead, ...columns.keys()].filter((c, i) => i === 0 || c !== lead);
    }

    const isText = ({kind}) => kind === "text";

    function heading(column) {
        const {name, title, unit} = column;
        const unitOf = unit === "" ? [] : [" ", th.make("span", {class: "unit"}, th.unit(unit))];
        const attributes = {scope: "col", "data-name": name, ...(isText(column) ? {} : {class: "n"})};
        return th.make("th", attributes, LONGER[name] || title, ...unitOf);
    }

    function rowOf(columns, order, texts) {
        const cell = (c, i) => {
            const text = texts[c] === "-" ? "\u2013" : isText(columns[c]) ? th.amount(texts[c])?.shown || texts[c] : texts[c];
            if (i === 0 && isText(columns[c])) return th.make("th", {scope: "row"}, text);
            return th.make("td", isText(columns[c]) ? {} : {class: "n"}, text);
        };
        return th.make("tr", {}, ...order.map(cell));
    }

    function gridOf({name, columns, rows, total}, label) {
        const order = orderOf(columns),
            row = (texts) => rowOf(columns, order, texts);
        const parts = [
            th.make("thead", {}, th.make("tr", {}, ...order.map((c) => heading(columns[c])))),
            th.make("tbody", {}, ...rows.map(row)),
            ...(total ? [th.make("tfoot", {}, row(total))] : []),
        ];
        const table = th.make("table", {id: `table-${name}`, class: "sortable"}, ...parts);
        return th.make("div", {class: "scroll", role: "region", tabindex: "0", "aria-label": label}, table);
    }

    const term = (name, value) => th.make("div", {}, th.make("dt", {}, name), th.make("dd", {}, value));
    const note = (text) => th.make("p", {class: "note"}, text);

    // The elements of a table, or of a record.
    function tableOf(table, label) {
        const notes = [];
        if (table.hidden) notes.push(note(`${table.hidden} more rows are not shown.`));
        if (table.note) notes.push(note(table.note));
        const body = table.facts
            ? th.make("dl", {}, ...table.facts.map(([name, text, kind]) => term(name, th.value(text, kind))))
            : gridOf(table, label);
        return [body, ...notes];
    }

    // ---- sections ----

    function add(id, title, ...children) {
        const heading = th.make("h2", {id: `h-${id}`}, title);
        th.find("main").append(th.make("section", {id, "aria-labelledby": `h-${id}`}, heading, ...children));
        th.find("contents").append(th.make("a", {href: `#${id}`}, title));
    }

    // Lines that every report has stand on top of the page.
    const COMMON = ["system", "workload", "program", "mapping", "run", "changes", "version"];

    function addReport({id, title, head, tables}) {
        const notes = head.filter(([key]) => !COMMON.includes(key)).map(([key, text]) => note(`${key}: ${text}`));
        const elements = tables.flatMap((table, i) =>
            i > 0 && table.title
                ? [th.make("h3", {}, table.title), ...tableOf(table, table.title)]
                : tableOf(table, title),
        );
        add(id, title, ...notes, ...elements);
    }

    document.title = th.shown(page.title);
    th.find("title").append(th.shown(page.title));
    th.find("head").append(...page.head.map(([key, text]) => term(key, text)));
    if (page.runs) {
        const bounds = page.sections.find((s) => s.id === "bounds");
        add("summary", "Summary", ...th.firstScreen(page.runs, bounds ? bounds.tables[0].sums : null));
        if (page.topology) add("topology", "System", ...th.picture(page.topology, page.runs[0].verdict));
        add("timeline", "Timeline", th.make("div", {id: "spans"}));
        page.sections.forEach(addReport);
    } else {
        const [points] = page.tables;
        const picture = th.make("div", {id: "study-picture"}),
            chosen = th.make("div", {id: "study-point", "aria-live": "polite"});
        add("summary", "Picture", picture, chosen);
        add("points", "Points", th.make("div", {id: "study-filters", class: "tools"}), ...tableOf(points, "Points"));
    }
})();

// ---- contents: the section that is being read ----

(function () {
    const links = [...document.querySelectorAll("nav a")];
    const sections = links.map((a) => th.find(a.hash.slice(1)));
    const nav = document.querySelector("nav");
    let current = -1;
    function mark() {
        const line = innerHeight / 3;
        let at = 0;
        sections.forEach((section, i) => {
            if (section.getBoundingClientRect().top < line) at = i;
        });
        if (at === current) return;
        current = at;
        links.forEach((a, i) =>
            i === at ? a.setAttribute("aria-current", "true") : a.removeAttribute("aria-current"),
        );
        nav.scrollLeft = links[at].offsetLeft - nav.offsetLeft - 40;
    }
    addEventListener("scroll", () => requestAnimationFrame(mark), {passive: true});
    new ResizeObserver(mark).observe(document.body); // what is drawn later moves the sections
    mark();
})();
