// SPDX-License-Identifier: GPL-3.0-or-later
// study.js - the points of a study: a picture of two columns with the Pareto front, filters by parameters, and of the
// chosen point the parameters, the figures and the script that makes it again.
th.showStudy = function ({tables: [points, definition, names, ...words]}) {
    const COLORS = 7;
    const fieldOf = (table, name) => table.fields.find((f) => f.name === name).values;
    const study = {
        name: fieldOf(definition, "name")[0],
        script: fieldOf(definition, "script")[0],
        metrics: fieldOf(names, "name"),
        // The words of each, in the user's spelling, and what the column of points has for them.
        parameters: words.map((t) => ({name: t.name, words: fieldOf(t, "word"), values: fieldOf(t, "value")})),
    };

    // The values of a field in the unit of the largest.
    function columnOf({name, kind, suffix, values}) {
        const isNumber = kind !== "text";
        if (!isNumber) return {name, unit: "", isNumber, raw: values, values};
        const [unit, size] = th.unitOf(suffix, values.reduce((most, v) => Math.max(most, Math.abs(v)), 0));
        return {name, unit, isNumber, raw: values, values: values.map((v) => (v === null ? v : v / size))};
    }

    const column = new Map(points.fields.map((field) => [field.name, columnOf(field)]));
    const numbers = [...column.values()].filter((c) => c.isNumber && c.name !== "point" && c.name !== "seed");
    const n = column.get("point").values.length;
    const numberOf = (row) => column.get("point").values[row];
    const table = document.querySelector("#points table");
    // Rows of the table, which sorting moves, by the number of their point.
    const rowOf = new Map([...table.tBodies[0].rows].map((tr) => [Number.parseInt(tr.cells[0].textContent.replace(/\D/g, ""), 10), tr]));
    const metrics = study.metrics.filter((name) => column.get(name).isNumber);
    const firstTwo = [
        metrics.length > 1 ? metrics[metrics.length - 1] : numbers.find((c) => c.name !== metrics[0])?.name || metrics[0],
        metrics[0],
    ];
    const state = {
        x: firstTwo[0],
        y: firstTwo[1],
        more: {x: isMoreBetter(firstTwo[0]), y: isMoreBetter(firstTwo[1])},
        color: study.parameters.find((p) => p.words.length > 1 && p.words.length <= COLORS)?.name || "",
        label: "#",
        wanted: new Map(),
        chosen: -1,
    };

    function isMoreBetter(name) {
        return /throughput|utilization/.test(name || "");
    }

    const titleOf = (name) => {
        const {unit} = column.get(name);
        return `${name.replace(/_/g, " ")}${unit ? ` [${unit}]` : ""}`;
    };
    const textOf = (value) =>
        value === null
            ? "\u2013"
            : typeof value === "number"
              ? value.toLocaleString("en", {maximumSignificantDigits: Number.isInteger(value) ? 9 : 6})
              : value;

    const linkTo = (row, text) => {
        const place = column.get("run page").values[row];
        const href = place && place.split("/").map(encodeURIComponent).join("/");
        return href ? [" ", th.make("a", {href, "aria-label": `Page of the run of point ${numberOf(row)}`}, text)] : [];
    };

    const wordOf = ({name, words, values}, row) => words[values.indexOf(column.get(name).raw[row])];

    const isWanted = (row) =>
        study.parameters.every((p) => !state.wanted.get(p.name) || wordOf(p, row) === state.wanted.get(p.name));

    // ---- choices ----

    function choice(label, options, value, onChange) {
        const select = th.make("select", {}, ...options.map(([key, text]) => th.make("option", {value: key}, text)));
        select.value = value;
        select.addEventListener("change", () => {
            onChange(select.value);
            show();
        });
        return th.make("label", {}, `${label} `, select);
    }

    function axisChoices(axis) {
        const direction = choice(
            "",
            [
                ["less", "less is better"],
                ["more", "more is better"],
            ],
            state.more[axis] ? "more" : "less",
            (value) => (state.more[axis] = value === "more"),
        );
        direction.firstElementChild.setAttribute("aria-label", `better along ${axis}`);
        const names = choice(
            axis === "x" ? "Across" : "Up",
            numbers.map((c) => [c.name, titleOf(c.name)]),
            state[axis],
            (value) => {
                state[axis] = value;
                state.more[axis] = isMoreBetter(value);
                direction.firstElementChild.value = state.more[axis] ? "more" : "less";
            },
        );
        return [names, direction];
    }

    const filters = study.parameters
        .filter((p) => p.words.length > 1)
        .map((p) =>
            choice(p.name, [["", "all"], ...p.words.map((word) => [word, word])], "", (value) =>
                state.wanted.set(p.name, value),
            ),
        );
    const countOf = th.make("span", {class: "range"});
    th.find("study-filters").append(...filters, countOf);
    const picture = th.find("study-picture");
    picture.append(
        th.make(
            "div",
            {class: "tools"},
            ...axisChoices("x"),
            ...axisChoices("y"),
            choice(
                "Colour by",
                [["", "nothing"], ...study.parameters.map((p) => [p.name, p.name])],
                state.color,
                (value) => (state.color = value),
            ),
            choice(
                "Label",
                [["#", "numbers, of the front"], ["", "nothing"], ...study.parameters.map((p) => [p.name, p.name])],
                state.label,
                (value) => (state.label = value),
            ),
        ),
        th.make("figure", {id: "study-figure"}),
        th.make("ul", {class: "legend", id: "study-legend"}),
    );

    // ---- the front ----

    // Rows that no other dominates, from the best x on.
    function frontOf(rows) {
        const sign = {x: state.more.x ? -1 : 1, y: state.more.y ? -1 : 1};
        const at = (row, axis) => sign[axis] * column.get(state[axis]).values[row];
        const order = [...rows].sort((a, b) => at(a, "x") - at(b, "x") || at(a, "y") - at(b, "y"));
        let best = Infinity;
        return order.filter((row) => {
            const isBetter = at(row, "y") < best;
            best = Math.min(best, at(row, "y"));
            return isBetter;
        });
    }

    // ---- the picture ----

    function stepOf(length, most) {
        const power = 10 ** Math.floor(Math.log10(length / most));
        return [1, 2, 5, 10].map((m) => m * power).find((step) => step >= (length / most) * 0.999);
    }

    // Ends on ticks; from 0 where values come near it.
    function axisOf(values, most) {
        let least = Math.min(...values),
            largest = Math.max(...values);
        if (least >= 0 && least <= 0.4 * largest) least = 0;
        if (least === largest && least > 0) least = 0;
        if (least === largest) largest += Math.abs(largest) || 1;
        const step = stepOf(largest - least, most);
        const from = Math.floor(least / step + 1e-9) * step,
            to = Math.ceil(largest / step - 1e-9) * step;
        const ticks = [];
        for (let i = Math.round(from / step); i * step <= to * (1 + 1e-12) + step * 1e-6; i++) ticks.push(i * step);
        const decimals = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
        return {from, to, ticks, write: (v) => v.toLocaleString("en", {minimumFractionDigits: decimals, maximumFractionDigits: decimals})};
    }

    function groupOf(row) {
        const parameter = study.parameters.find((p) => p.name === state.color);
        return parameter ? parameter.words.indexOf(wordOf(parameter, row)) : 0;
    }

    // A marker for each group, besides its colour: circle, square, triangle, diamond.
    function markerOf(x, y, group) {
        const r = 5;
        const paths = [
            `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`,
            `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}z`,
            `M${x} ${y - r - 1}l${r + 1} ${2 * r}h${-2 * r - 2}z`,
            `M${x} ${y - r - 1}l${r + 1} ${r + 1}l${-r - 1} ${r + 1}l${-r - 1} ${-r - 1}z`,
        ];
        return paths[group % paths.length];
    }

    // What stands beside points, those of the front first: numbers, or the words of a parameter beside all of few.
    function namesOf(rows, front) {
        const FRONT = 30,
            ALL = 60,
            LETTERS = 18;
        const parameter = study.parameters.find((p) => p.name === state.label);
        const named = parameter && rows.length <= ALL ? [...new Set([...front, ...rows])] : front.length <= FRONT ? front : [];
        const nameOf = (row) => (parameter ? th.fitName(wordOf(parameter, row), LETTERS) : `#${numberOf(row)}`);
        return new Map((state.label === "" ? [] : named).map((row) => [row, nameOf(row)]));
    }

    // The length in pixels of the longest of the words, in the letters of the picture.
    function widest(figure, words) {
        const pen = document.createElement("canvas").getContext("2d");
        pen.font = `12px ${getComputedStyle(figure).fontFamily}`;
        return Math.max(0, ...words.map((word) => pen.measureText(word).width));
    }

    function drawPicture(rows) {
        const figure = th.find("study-figure");
        const values = (axis) => rows.map((row) => column.get(state[axis]).values[row]);
        if (rows.length === 0) {
            figure.replaceChildren(th.make("p", {class: "note"}, "No point has both figures."));
            return;
        }
        const front = frontOf(rows),
            isFront = new Set(front),
            names = namesOf(rows, front);
        const width = Math.max(320, Math.min(1100, figure.clientWidth)),
            height = width < 560 ? 320 : 440,
            top = 20,
            bottom = 48;
        const wordsOf = (axis) => axis.ticks.map(axis.write);
        const ay = axisOf(values("y"), 6),
            left = 36 + widest(figure, wordsOf(ay));
        const axes = [8, 6, 5, 4, 3, 2, 1].map((most) => axisOf(values("x"), most));
        const room = (axis) => axis.ticks.length * (12 + widest(figure, wordsOf(axis)));
        const ax = axes.find((axis) => room(axis) <= width - left) || axes[axes.length - 1];
        const right = 12 + Math.max(widest(figure, wordsOf(ax)) / 2, widest(figure, [...names.values()]));
        const x = (v) => left + ((v - ax.from) / (ax.to - ax.from)) * (width - left - right);
        const y = (v) => height - bottom - ((v - ay.from) / (ay.to - ay.from)) * (height - top - bottom);
        const svg = th.shape("svg", {
            viewBox: `0 0 ${width} ${height}`,
            class: "study",
            role: "group",
            "aria-label": `${titleOf(state.y)} over ${titleOf(state.x)}, ${rows.length} points, ${front.length} on the Pareto front`,
        });
        for (const v of ay.ticks)
            svg.append(
                th.shape("line", {class: "grid", x1: left, x2: width - right, y1: y(v), y2: y(v)}),
                th.shape("text", {class: "n", x: left - 8, y: y(v) + 4}, ay.write(v)),
            );
        for (const v of ax.ticks)
            svg.append(
                th.shape("line", {class: "grid", x1: x(v), x2: x(v), y1: top, y2: height - bottom}),
                th.shape("text", {class: "c", x: x(v), y: height - bottom + 18}, ax.write(v)),
            );
        svg.append(
            th.shape("text", {class: "c title", x: left + (width - left - right) / 2, y: height - 8}, titleOf(state.x)),
            th.shape(
                "text",
                {class: "c title", transform: `translate(14 ${top + (height - top - bottom) / 2}) rotate(-90)`},
                titleOf(state.y),
            ),
        );
        const at = (row) => [x(column.get(state.x).values[row]), y(column.get(state.y).values[row])];
        svg.append(
            th.shape("path", {
                class: "front",
                d: front.map((row, i) => `${i === 0 ? "M" : "H"}${at(row)[0]}${i === 0 ? " " : "V"}${at(row)[1]}`).join(""),
            }),
        );
        const stop = rows.includes(state.chosen) ? state.chosen : front[0];
        for (const row of [...rows.filter((r) => !isFront.has(r)), ...front]) {
            const [px, py] = at(row);
            const marker = th.shape(
                "path",
                {
                    class: `point${row === state.chosen ? " chosen" : ""}`,
                    d: markerOf(px, py, groupOf(row)),
                    fill: `var(--c${groupOf(row) % COLORS})`,
                    opacity: isFront.has(row) || row === state.chosen ? 1 : 0.55,
                    role: "button",
                    "data-row": row,
                    "data-at": px,
                    tabindex: row === stop ? 0 : -1,
                    "aria-label": `point ${numberOf(row)}`,
                },
                th.shape("title", {}, `point ${numberOf(row)}: ${titleOf(state.x)} ${textOf(column.get(state.x).values[row])}, ${titleOf(state.y)} ${textOf(column.get(state.y).values[row])}`),
            );
            svg.append(marker);
        }
        // A name stands above its point, where possible on the side without the line of the front; one without room is left out.
        const taken = [...(state.label === "#" ? front : rows)].map((row) => ({from: at(row)[0] - 6, to: at(row)[0] + 6, top: at(row)[1] - 6, bottom: at(row)[1] + 6}));
        for (const [row, name] of names) {
            const [px, py] = at(row),
                length = widest(figure, [name]);
            const starts = state.more.y && !state.more.x ? [px - 8 - length, px + 8] : [px + 8, px - 8 - length];
            const places = starts.map((from) => ({from, to: from + length, top: py - 17, bottom: py - 6}));
            const place = places.find(
                (p) => p.from >= left && !taken.some((t) => t.from < p.to + 2 && p.from < t.to + 2 && t.top < p.bottom && p.top < t.bottom),
            );
            if (!place) continue;
            taken.push(place);
            svg.append(th.shape("text", {class: "name", x: place.from, y: py - 8}, name));
        }
        figure.replaceChildren(svg);
    }

    const markerAt = (row) => picture.querySelector(`[data-row="${row}"]`);

    picture.addEventListener("click", (e) => {
        const marker = e.target.closest("[data-row]");
        if (!marker) return;
        choose(Number(marker.dataset.row));
        markerAt(state.chosen).focus();
    });
    th.rove(picture, "[data-row]");

    function showLegend() {
        const parameter = study.parameters.find((p) => p.name === state.color);
        const shapes = ["circle", "square", "triangle", "diamond"];
        const items = (parameter ? parameter.words : []).map((word, i) => {
            const sample = th.shape("svg", {viewBox: "0 0 14 14", width: 14, height: 14, role: "img", "aria-label": shapes[i % 4]});
            sample.append(th.shape("path", {d: markerOf(7, 7, i), fill: `var(--c${i % COLORS})`}));
            return th.make("li", {title: word}, sample, ` ${th.fitName(word, 60)}`);
        });
        const line = th.make("i", {class: "line"});
        const what = parameter ? [th.make("li", {}, `${parameter.name}:`)] : [];
        th.find("study-legend").replaceChildren(...what, ...items, th.make("li", {}, line, "Pareto front"));
    }

    // ---- the chosen point ----

    // A word of Tcl: as it is, or in braces.
    function quote(word) {
        const text = String(word);
        return /^[\w.+:/%-]+$/.test(text) ? text : `{${text}}`;
    }

    function scriptOf(row) {
        const lines = [`# point ${numberOf(row)} of study ${study.name}`, `set point ${numberOf(row)}`];
        if (column.has("seed") && !study.parameters.some((p) => p.name === "seed"))
            lines.push(`set seed ${column.get("seed").values[row]}`);
        for (const p of study.parameters) lines.push(`set ${p.name} ${quote(wordOf(p, row))}`);
        const body = study.script.replace(/^\n+|\s+$/g, "").split("\n");
        const indent = Math.min(...body.filter((l) => l.trim()).map((l) => l.length - l.trimStart().length));
        return [...lines, ...body.map((l) => l.slice(Number.isFinite(indent) ? indent : 0))].join("\n");
    }

    function listOf(names, title, value) {
        const entry = (name) => th.make("div", {}, th.make("dt", {}, title(name)), th.make("dd", {}, value(name)));
        return th.make("dl", {}, ...names.map(entry));
    }

    function choose(row) {
        state.chosen = row;
        const script = th.make("pre", {tabindex: "0", "aria-label": "Script of the point"}, scriptOf(row));
        const copy = th.make("button", {type: "button"}, "Copy");
        copy.addEventListener("click", () => {
            getSelection().selectAllChildren(script);
            navigator.clipboard?.writeText(script.textContent).then(
                () => (copy.textContent = "Copied"),
                () => (copy.textContent = "Selected: copy it"),
            );
        });
        const close = th.make("button", {type: "button"}, "Close");
        close.addEventListener("click", unchoose);
        const error = column.get("error").values[row];
        th.find("study-point").replaceChildren(
            th.make("div", {class: "tools"}, th.make("h3", {}, `Point ${numberOf(row)}`), ...linkTo(row, "page of its run"), close),
            listOf(
                study.parameters.map((p) => p.name),
                (name) => name,
                (name) => wordOf(study.parameters.find((p) => p.name === name), row),
            ),
            listOf(study.metrics, titleOf, (name) => textOf(column.get(name).values[row])),
            ...(error ? [th.make("p", {class: "note"}, error)] : []),
            th.make("p", {class: "note"}, "The commands of this point: ", copy),
            script,
        );
        show();
    }

    // The focus goes back to the point, or to the row of one that is not in the picture.
    function unchoose() {
        const row = state.chosen,
            wasIn = th.find("study-point").contains(document.activeElement) || picture.contains(document.activeElement);
        state.chosen = -1;
        th.find("study-point").replaceChildren();
        show();
        if (wasIn) (markerAt(row) || rowOf.get(numberOf(row))?.querySelector("button"))?.focus();
    }
    addEventListener("keydown", (e) => e.key === "Escape" && e.target.tagName !== "SELECT" && state.chosen >= 0 && unchoose());

    // ---- the table ----

    // The numbers of points become buttons.
    for (let row = 0; row < n; row++) {
        const cell = rowOf.get(numberOf(row))?.cells[0];
        if (!cell) continue;
        const button = th.make("button", {type: "button", class: "go", title: "Show this point"}, cell.textContent);
        button.addEventListener("click", () => {
            choose(row);
            th.find("study-point").scrollIntoView({block: "nearest"});
        });
        cell.replaceChildren(button, ...linkTo(row, "run"));
    }

    function show() {
        let shown = 0;
        const rows = [];
        for (let row = 0; row < n; row++) {
            const wanted = isWanted(row);
            const tr = rowOf.get(numberOf(row));
            if (tr) {
                tr.hidden = !wanted;
                tr.classList.toggle("chosen", row === state.chosen);
            }
            shown += wanted;
            if (wanted && column.get(state.x).values[row] !== null && column.get(state.y).values[row] !== null) rows.push(row);
        }
        countOf.textContent = `${shown.toLocaleString("en")} of ${n.toLocaleString("en")} points`;
        drawPicture(rows);
        showLegend();
    }

    addEventListener("resize", show);
    show();
};
