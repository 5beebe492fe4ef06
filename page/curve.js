// SPDX-License-Identifier: GPL-3.0-or-later
// curve.js - small drawings from the figures of tables: the convergence of a search, and where time and memory went.
(function () {
    // The numbers of a column, by its name or place, and its unit.
    function columnOf(table, name) {
        const heads = [...table.tHead.rows[0].cells];
        const at = typeof name === "number" ? name : heads.findIndex((c) => c.dataset.name === name);
        const unit = heads[at].querySelector(".unit");
        return {
            numbers: [...table.tBodies[0].rows].map((row) => Number.parseFloat(row.cells[at].textContent)),
            unit: unit ? unit.textContent : "",
        };
    }

    const UNITS = {s: 1, ms: 1e-3, "\u00b5s": 1e-6, ns: 1e-9, ps: 1e-12};

    // "1.64ms" in another unit of time; NaN where it is none.
    function inUnit(text, unit) {
        const [, number, own] = /^([\d.]+)\s*(\D+)$/.exec(text) || [];
        return (Number(number) * UNITS[own]) / UNITS[unit];
    }

    function factOf(section, name) {
        const term = [...section.querySelectorAll("dt")].find((dt) => dt.textContent === name);
        return term ? term.nextElementSibling.textContent : "";
    }

    // 1, 2 or 5 times a power of ten, so that there are at most this number of marks.
    function marks(from, to, most) {
        const least = (to - from) / most,
            power = 10 ** Math.floor(Math.log10(least));
        const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= least);
        const list = [];
        for (let i = Math.ceil(from / step); i * step <= to * (1 + 1e-9); i++)
            list.push({
                value: i * step,
                text: (i * step).toFixed(Math.max(0, Math.ceil(-Math.log10(step) - 1e-9))),
            });
        return list;
    }

    function drawConvergence(table) {
        if (table.tBodies[0].rows.length === 0) return;
        const section = table.closest("section");
        const at = columnOf(table, "evaluation").numbers,
            {numbers: value, unit} = columnOf(table, 1);
        const last = Number(factOf(section, "evaluations").replace(/\s/g, "")) || at[at.length - 1];
        const bound = inUnit(factOf(section, "lower bound"), unit);
        const width = Math.max(320, Math.min(720, section.clientWidth)),
            height = 260,
            left = 64,
            right = 16,
            top = 30,
            bottom = 46;
        const isLog = last > 50;
        const lowest = Math.min(...value, Number.isNaN(bound) ? Infinity : bound),
            highest = Math.max(...value);
        const room = (highest - lowest || highest || 1) * 0.08,
            y0 = Math.max(0, lowest - room),
            y1 = highest + room;
        const across = (n) =>
            isLog ? Math.log10(Math.max(1, n)) / Math.log10(Math.max(2, last)) : n / Math.max(1, last);
        const x = (n) => left + across(n) * (width - left - right);
        const y = (v) => top + ((y1 - v) / (y1 - y0)) * (height - top - bottom);
        const svg = th.shape("svg", {
            viewBox: `0 0 ${width} ${height}`,
            class: "curve",
            role: "img",
            "aria-label": `Best value over evaluations: from ${value[0]} to ${value[value.length - 1]} ${unit}`,
        });
        for (const mark of marks(y0, y1, 5))
            svg.append(
                th.shape("line", {
                    class: "grid",
                    x1: left,
                    x2: width - right,
                    y1: y(mark.value),
                    y2: y(mark.value),
                }),
                th.shape("text", {class: "n", x: left - 8, y: y(mark.value) + 4}, mark.text),
            );
        const ticks = isLog
            ? [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7]
                  .filter((n) => n <= last)
                  .map((n) => ({value: n, text: n.toLocaleString("en")}))
            : marks(0, last, 6);
        for (const tick of ticks)
            svg.append(th.shape("text", {class: "c", x: x(tick.value), y: height - bottom + 18}, tick.text));
        svg.append(
            th.shape("text", {class: "e", x: width - right, y: height - 6}, `evaluations${isLog ? " (logarithmic)" : ""}`),
            th.shape("text", {x: 0, y: 12}, `best so far${unit ? ` [${unit}]` : ""}`),
        );
        if (!Number.isNaN(bound))
            svg.append(
                th.shape("line", {
                    class: "bound",
                    x1: left,
                    x2: width - right,
                    y1: y(bound),
                    y2: y(bound),
                }),
                th.shape("text", {class: "e", x: width - right, y: y(bound) - 6}, "lower bound"),
            );
        const path = value
            .map(
                (v, i) =>
                    `${i === 0 ? "M" : "H"}${x(at[i]).toFixed(1)}${i === 0 ? " " : "V"}${y(v).toFixed(1)}`,
            )
            .join("");
        svg.append(th.shape("path", {class: "best", d: `${path}H${x(last).toFixed(1)}`}));
        value.forEach((v, i) =>
            svg.append(
                th.shape(
                    "circle",
                    {class: "dot", cx: x(at[i]), cy: y(v), r: 3.5},
                    th.shape("title", {}, `evaluation ${at[i]}: ${v} ${unit}`),
                ),
            ),
        );
        table.parentElement.before(th.make("figure", {}, svg));
    }

    // A further column with a bar of parts: each a name, a colour, and numbers as the wholes are.
    function addBars(table, title, parts, wholes) {
        table.tHead.rows[0].cells[0].after(th.make("th", {scope: "col", class: "bars"}, title));
        [...table.tBodies[0].rows].forEach((row, r) => {
            const bar = th.make("span", {class: "bar", "aria-hidden": "true"});
            for (const [, color, numbers] of parts)
                bar.append(
                    th.make("i", {
                        style: `width: ${(wholes[r] > 0 ? (100 * numbers[r]) / wholes[r] : 0).toFixed(2)}%; background: var(--${color})`,
                    }),
                );
            row.cells[0].after(th.make("td", {class: "bars"}, bar));
        });
        const list = th.make("ul", {class: "legend"});
        for (const [name, color] of parts)
            list.append(th.make("li", {}, th.make("i", {style: `background: var(--${color})`}), name));
        table.parentElement.before(list);
    }

    function showTime(table) {
        const numbers = (name) => columnOf(table, name).numbers;
        const parts = [
            ["busy", "c0", numbers("busy")],
            ["waits for operands", "c1", numbers("stall_in")],
            ["waits for room", "c3", numbers("stall_out")],
            ["idle", "idle", numbers("idle")],
        ];
        addBars(
            table,
            "time",
            parts,
            parts[0][2].map((_, r) => parts.reduce((sum, part) => sum + part[2][r], 0)),
        );
    }

    function showMemory(table) {
        const weights = columnOf(table, "weights").numbers,
            peak = columnOf(table, "peak").numbers;
        addBars(
            table,
            "capacity",
            [
                ["weights", "c2", weights],
                ["other data at the peak", "c1", peak.map((p, r) => p - weights[r])],
                ["free", "idle", columnOf(table, "free").numbers],
            ],
            columnOf(table, "capacity").numbers,
        );
    }

    // A table of differences has the same name, but other columns.
    const has = (table, name) => [...table.tHead.rows[0].cells].some((c) => c.dataset.name === name);
    for (const [id, column, draw] of [
        ["convergence", "evaluation", drawConvergence],
        ["accelerators", "stall_in", showTime],
        ["memory", "capacity", showMemory],
    ]) {
        const table = th.find(`table-${id}`);
        if (table && has(table, column)) draw(table);
    }
})();
