// SPDX-License-Identifier: GPL-3.0-or-later
// timeline.js - the timeline: what is in view, and what is picked. controls.js is how people change that.
th.showTimeline = function (data) {
    th.find("spans").after(th.find("timeline-parts").content.cloneNode(true));
    const {tasks} = data;
    const painter = th.painter(data),
        usage = th.usageOf(data, painter);
    const end = Math.max(1, data.end);
    const LEAST = Math.min(end, 100); // ps in view at least
    const OVERVIEW = usage.HEIGHT;
    const rowsBox = th.find("rows"),
        canvas = rowsBox.querySelector("canvas"),
        ctx = canvas.getContext("2d");
    const overview = th.find("overview"),
        tip = th.find("tip"),
        picked = th.find("picked");
    const view = {from: 0, to: end};
    const look = {critical: false, layers: null, fonts: {}};
    // What changes: the canvas, the width of the names beside it, the rows, the span that is picked.
    const now = {
        size: {width: 0, height: 0},
        gutter: 100,
        layout: null,
        selected: null,
        opened: new Set(), // keys of folds
        hasEngines: data.tracks.filter((t) => t.kind === "accel").length <= 4 && data.computes,
    };
    let isAsked = false;

    // ---- drawing ----

    function draw() {
        isAsked = false;
        const began = performance.now();
        painter.paint(ctx, now.size, now.layout.rows, rowsBox.scrollTop, view, look, now.gutter);
        markSelected();
        drawOverview();
        th.find("range").textContent = `${th.time(view.from)} \u2013 ${th.time(view.to)} of ${th.time(end)}`;
        Object.assign(rowsBox.dataset, {
            from: view.from,
            to: view.to,
            draw: (performance.now() - began).toFixed(2),
        });
    }

    function ask() {
        if (!isAsked) requestAnimationFrame(draw);
        isAsked = true;
    }

    const xOf = (time) =>
        now.gutter + ((time - view.from) / (view.to - view.from)) * (now.size.width - now.gutter);
    const timeAt = (x) =>
        view.from + ((x - now.gutter) / (now.size.width - now.gutter)) * (view.to - view.from);

    function placeOf(hit) {
        const {track, span} = hit;
        const lane = track.lanes.findIndex((l) => l.spans.includes(span));
        const row = now.layout.rows.find((r) => r.type === "spans" && r.track === track);
        if (!row) return null; // folded
        return {y: row.y + Math.max(0, lane) * painter.LANE, height: painter.LANE - 1};
    }

    function markSelected() {
        const place = now.selected && placeOf(now.selected);
        if (!place) return;
        const {y, height} = place;
        const top = y - rowsBox.scrollTop + painter.AXIS;
        const x0 = Math.max(now.gutter, xOf(now.selected.track.start[now.selected.span])),
            x1 = Math.min(now.size.width, xOf(now.selected.track.end[now.selected.span]));
        if (top < painter.AXIS - 2 || x1 < now.gutter || x0 > now.size.width) return;
        ctx.strokeStyle = painter.colors().text;
        ctx.lineWidth = 2;
        ctx.strokeRect(x0 - 1, top - 1, Math.max(3, x1 - x0 + 1), height + 2);
    }

    function scaleCanvas(element, width, height) {
        const ratio = devicePixelRatio || 1;
        element.width = Math.round(width * ratio);
        element.height = Math.round(height * ratio);
        element.style.height = `${height}px`;
        element.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
    }

    // Room for the longest name of a row, within bounds.
    function gutterFor(width) {
        ctx.font = look.fonts.text;
        const longest = Math.max(
            ...now.layout.rows.filter((r) => r.type !== "heading").map((r) => ctx.measureText(r.label).width),
        );
        return Math.round(Math.min(Math.max(76, longest + 14), width < 560 ? 112 : 220));
    }

    function arrange() {
        now.layout = painter.makeRows(now.hasEngines, now.opened);
        const style = getComputedStyle(document.body);
        look.fonts = {
            text: `12px ${style.fontFamily}`,
            small: `11px ${style.fontFamily}`,
            span: `11px ${style.fontFamily}`,
            heading: `600 12px ${style.fontFamily}`,
        };
        const width = rowsBox.clientWidth,
            most = Math.max(240, innerHeight * 0.7);
        now.gutter = gutterFor(width);
        now.size = {width, height: Math.min(most, now.layout.height + painter.AXIS)};
        rowsBox.style.height = `${now.size.height + 2}px`;
        th.find("rows-height").style.height =
            `${Math.max(0, now.layout.height + painter.AXIS - now.size.height)}px`;
        scaleCanvas(canvas, width, now.size.height);
        scaleCanvas(overview, overview.clientWidth, OVERVIEW);
        placeFolds();
        painter.readTheme();
        ask();
    }

    // ---- groups of links in one row ----

    // The name of the row is the button that opens it.
    function buttonOf(fold) {
        const button = th.make("button", {type: "button", class: "fold", title: `${fold.label} links in use: open or fold`});
        button.addEventListener("click", () => openFolds([fold], !now.opened.has(fold.key)));
        button.addEventListener("pointerdown", (e) => e.stopPropagation());
        return button;
    }

    const foldButtons = new Map([...painter.folds.values()].map((fold) => [fold, buttonOf(fold)]));
    rowsBox.append(...foldButtons.values());

    function placeFolds() {
        for (const row of now.layout.rows.filter((r) => r.type === "fold")) {
            const button = foldButtons.get(row.track),
                isOpen = now.opened.has(row.track.key);
            const {name, tracks} = row.track;
            button.replaceChildren(`${isOpen ? "\u25be" : "\u25b8"} ${name}, mean`, th.make("span", {}, ` of ${tracks.length}`));
            button.setAttribute("aria-expanded", String(isOpen));
            button.style.cssText = `top: ${row.y + painter.AXIS}px; width: ${now.gutter - 4}px; height: ${row.height}px`;
        }
    }

    function openFolds(folds, isOpen) {
        for (const {key} of folds) now.opened[isOpen ? "add" : "delete"](key);
        arrange();
    }

    // A row of its own for a link of a group.
    function reveal({fold}) {
        if (fold && !now.opened.has(fold.key)) openFolds([fold], true);
    }

    // ---- the whole run, small ----

    function drawOverview() {
        const c = overview.getContext("2d");
        const box = {left: now.gutter, width: overview.clientWidth - now.gutter, height: OVERVIEW};
        const color = painter.colors();
        usage.paint(c, box, color, look.fonts);
        const x0 = box.left + (view.from / end) * box.width,
            x1 = box.left + (view.to / end) * box.width;
        c.fillStyle = color.page;
        c.globalAlpha = 0.7;
        c.fillRect(box.left, 0, x0 - box.left, OVERVIEW);
        c.fillRect(x1, 0, box.left + box.width - x1, OVERVIEW);
        c.globalAlpha = 1;
        c.strokeStyle = color.accent;
        c.lineWidth = 1.5;
        c.strokeRect(x0 + 0.75, 1, Math.max(2, x1 - x0 - 1.5), OVERVIEW - 2);
    }

    // ---- what is in view ----

    function show(from, to) {
        let length = Math.min(end, Math.max(LEAST, to - from));
        from = Math.min(Math.max(0, from), end - length);
        view.from = from;
        view.to = from + length;
        hideTip();
        ask();
    }

    function zoom(factor, at = (view.from + view.to) / 2) {
        const length = Math.min(end, Math.max(LEAST, (view.to - view.from) * factor));
        const share = (at - view.from) / (view.to - view.from);
        show(at - share * length, at + (1 - share) * length);
    }

    function pan(share) {
        const step = share * (view.to - view.from);
        show(view.from + step, view.to + step);
    }

    function scrollRows(dy) {
        rowsBox.scrollTop += dy;
    }

    // ---- spans: finding, telling, picking ----

    function spanAt(x, y) {
        const at = y - painter.AXIS + rowsBox.scrollTop;
        const row = now.layout.rows.find((r) => r.type !== "heading" && at >= r.y && at < r.y + r.height);
        if (!row || row.type === "fold" || x < now.gutter) return null;
        const track = row.track,
            time = timeAt(x),
            near = (3 * (view.to - view.from)) / (now.size.width - now.gutter);
        const lane = track.lanes[row.type === "engine" ? 0 : Math.floor((at - row.y) / painter.LANE)];
        if (!lane) return null;
        let best = null,
            distance = near;
        for (let i = th.firstFrom(lane, track, time - lane.longest - near); i < lane.spans.length; i++) {
            const span = lane.spans[i];
            if (track.start[span] > time + near) break;
            const off = Math.max(track.start[span] - time, time - track.end[span], 0);
            if (off <= distance) {
                best = {track, span};
                distance = off;
            }
        }
        return best;
    }

    // The fault of a row here, that which began last; null: none.
    function faultAt(x, y) {
        const at = y - painter.AXIS + rowsBox.scrollTop;
        const row = now.layout.rows.find(
            (r) => (r.type === "spans" || r.type === "fold") && at >= r.y && at < r.y + r.height + painter.STRIP,
        );
        if (!row || x < now.gutter) return null;
        const near = (2 * (view.to - view.from)) / (now.size.width - now.gutter),
            time = timeAt(x);
        const fault = row.track.faults.findLast((f) => f.from - near <= time && time <= f.to + near);
        return fault ? {track: row.track, fault} : null;
    }

    const intervalOf = ({from, to}) => `${th.time(from)} \u2013 ${th.time(to)}`;

    // Those of its row that a span meets.
    function faultsOf({track, span}) {
        const MOST = 3;
        const met = track.faults.filter((f) => f.from < track.end[span] && f.to > track.start[span]);
        const facts = met.slice(0, MOST).map((f) => [f.what, intervalOf(f)]);
        return met.length > MOST ? [...facts, ["faults", `${met.length} in all`]] : facts;
    }

    const KINDS = ["compute", "transfer", "wait", "collective"];

    // Names and values of a span.
    function factsOf({track, span}) {
        const task = track.task[span],
            length = track.end[span] - track.start[span];
        const facts = [
            ["start", th.time(track.start[span])],
            ["duration", th.time(length)],
        ];
        if (track.count[span] > 1)
            return [
                ...facts,
                ["tasks", track.count[span]],
                ["their time", th.time(track.busy[span])],
                ["longest", th.nameOf(data, task)],
                ...faultsOf({track, span}),
            ];
        facts.push(["task", tasks.number[task]], ["kind", KINDS[tasks.kind[task]]]);
        if (tasks.input[task] > 0) facts.push(["input", tasks.input[task]]);
        if (tasks.kind[task] === data.COMPUTE)
            painter.ENGINES.forEach((name, engine) => {
                if (painter.used[engine]) facts.push([name, th.percent(painter.engineShare(task, engine))]);
            });
        const at = data.groups === "purpose" && th.placeOf(tasks, task);
        if (at) facts.push(["pass", at.pass], ["micro-batch", tasks.microBatch[task]], ["layer", at.layer]);
        const parts = tasks.kind[task] === data.COMPUTE && data.works[tasks.entry[task]];
        if (parts) facts.push(["kernels", parts]);
        if (tasks.bytes[task] > 0)
            facts.push(
                ["bytes", th.bytes(tasks.bytes[task])],
                ["mean rate", length > 0 ? th.rate((tasks.bytes[task] * 8e12) / length) : "-"],
            );
        if (tasks.kind[task] === data.COLLECTIVE && data.collectives[tasks.entry[task]][2])
            facts.push(["algorithm", data.collectives[tasks.entry[task]][2]]);
        if (tasks.isCritical[task]) facts.push(["critical path", "yes"]);
        return [...facts, ...faultsOf({track, span})];
    }

    const titleOf = ({track, span}) =>
        track.count[span] > 1 ? `${track.count[span]} tasks` : th.nameOf(data, track.task[span]);
    const rowNameOf = ({track}) => {
        const row =
            {path: "critical path", collective: "collectives", fold: `links of ${track.name}`}[track.kind] || `${track.kind}/${track.name}`;
        return data.runs.length > 1 ? `${row} of ${data.runs[track.run].name}` : row;
    };

    // Of a span, or of a fault.
    function showTip(hit, x, y) {
        const list = th.make("dl");
        const facts = hit.fault ? [["fault", intervalOf(hit.fault)]] : factsOf(hit);
        for (const [name, value] of facts)
            list.append(th.make("div", {}, th.make("dt", {}, name), th.make("dd", {}, String(value))));
        tip.replaceChildren(
            th.make("b", {}, hit.fault ? [hit.fault.of, hit.fault.what].filter(Boolean).join(" ") : titleOf(hit)),
            document.createTextNode(` on ${rowNameOf(hit)}`),
            list,
        );
        tip.hidden = false;
        const left = Math.min(x + 14, now.size.width - tip.offsetWidth - 4);
        tip.style.left = `${Math.max(4, left)}px`;
        tip.style.top = `${overview.offsetHeight + y + 16}px`;
    }

    function hideTip() {
        tip.hidden = true;
    }

    function pick(hit, isZoomed) {
        now.selected = hit;
        hideTip();
        if (hit === null) {
            picked.replaceChildren();
            ask();
            return;
        }
        reveal(hit.track);
        const facts = factsOf(hit)
            .map(([name, value]) => `${name} ${value}`)
            .join(", ");
        picked.replaceChildren(
            th.make("b", {}, titleOf(hit)),
            document.createTextNode(` on ${rowNameOf(hit)}: ${facts}`),
        );
        const {track, span} = hit,
            length = track.end[span] - track.start[span];
        if (isZoomed) show(track.start[span] - 2 * length, track.end[span] + 2 * length);
        else if (track.end[span] < view.from || track.start[span] > view.to)
            show(
                (track.start[span] + track.end[span] - view.to + view.from) / 2,
                (track.start[span] + track.end[span] + view.to - view.from) / 2,
            );
        const {y} = placeOf(hit);
        if (y < rowsBox.scrollTop || y > rowsBox.scrollTop + now.size.height - 60)
            rowsBox.scrollTop = y - now.size.height / 3;
        ask();
    }

    // The next or previous span of a row: from what is picked there, else the first one in view.
    function step(track, way) {
        if (!track || track.n === 0) return;
        let span = now.selected !== null && now.selected.track === track ? now.selected.span + way : -1;
        if (now.selected === null || now.selected.track !== track)
            span = Math.max(
                0,
                track.start.findIndex((start) => start >= view.from),
            );
        pick({track, span: Math.min(track.n - 1, Math.max(0, span))}, false);
    }

    // Of the run where something is picked, else of the first.
    const pathTrack = () =>
        data.tracks.find(
            (t) => t.kind === "path" && t.run === (now.selected === null ? 0 : now.selected.track.run),
        );

    function rowInView() {
        if (now.selected !== null) return now.selected.track;
        const row = now.layout.rows.find(
            (r) => r.type === "spans" && r.track.n > 0 && r.track.kind !== "path" && r.y >= rowsBox.scrollTop,
        );
        return row ? row.track : pathTrack();
    }

    th.timeline = {
        data,
        painter,
        usage,
        end,
        view,
        look,
        now,
        rowsBox,
        overview,
        ask,
        arrange,
        timeAt,
        show,
        zoom,
        pan,
        scrollRows,
        spanAt,
        faultAt,
        showTip,
        hideTip,
        pick,
        step,
        pathTrack,
        rowInView,
        reveal,
        openFolds,
    };
    document.addEventListener("theme", arrange);
    addEventListener("resize", arrange);
    arrange();
};
