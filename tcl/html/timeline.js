// SPDX-License-Identifier: GPL-3.0-or-later
// timeline.js - the timeline: what is in view, and how mouse, touch and keys change that.
(function () {
    const block = th.find("spans");
    block.after(th.find("timeline-parts").content.cloneNode(true));
    const data = th.readSpans(block.textContent);
    const {tasks} = data;
    const painter = th.painter(data);
    const end = Math.max(1, data.end);
    const LEAST = Math.min(end, 100); // ps in view at least
    const rowsBox = th.find("rows"), canvas = rowsBox.querySelector("canvas"), ctx = canvas.getContext("2d");
    const overview = th.find("overview"), tip = th.find("tip"), picked = th.find("picked");
    const view = {from: 0, to: end};
    const look = {critical: false, layers: null, fonts: {}};
    let size = {width: 0, height: 0}, gutter = 100, layout, selected = null, isAsked = false;
    let hasEngines = data.tracks.filter((t) => t.kind === "accel").length <= 16 && data.works.length > 0;

    // ---- drawing ----

    function draw() {
        isAsked = false;
        const began = performance.now();
        painter.paint(ctx, size, layout.rows, rowsBox.scrollTop, view, look, gutter);
        markSelected();
        drawOverview();
        th.find("range").textContent = `${th.time(view.from)} \u2013 ${th.time(view.to)} of ${th.time(end)}`;
        Object.assign(rowsBox.dataset, {from: view.from, to: view.to, draw: (performance.now() - began).toFixed(2)});
    }

    function ask() {
        if (!isAsked)
            requestAnimationFrame(draw);
        isAsked = true;
    }

    const xOf = (time) => gutter + (time - view.from) / (view.to - view.from) * (size.width - gutter);
    const timeAt = (x) => view.from + (x - gutter) / (size.width - gutter) * (view.to - view.from);

    function placeOf(hit) {
        const {track, span} = hit;
        const lane = track.lanes.findIndex((l) => track.start[l.spans[th.firstFrom(l, track, track.start[span])]] === track.start[span] && l.spans.includes(span));
        const row = layout.rows.find((r) => r.type === "spans" && r.track === track);
        return {y: row.y + Math.max(0, lane) * painter.LANE, height: painter.LANE - 1};
    }

    function markSelected() {
        if (selected === null)
            return;
        const {y, height} = placeOf(selected);
        const top = y - rowsBox.scrollTop + painter.AXIS;
        const x0 = Math.max(gutter, xOf(selected.track.start[selected.span])), x1 = Math.min(size.width, xOf(selected.track.end[selected.span]));
        if (top < painter.AXIS - 2 || x1 < gutter || x0 > size.width)
            return;
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

    function arrange() {
        layout = painter.makeRows(hasEngines);
        const style = getComputedStyle(document.body);
        look.fonts = {
            text: `12px ${style.fontFamily}`, small: `9px ${style.fontFamily}`, span: `10.5px ${style.fontFamily}`,
            heading: `600 12px ${style.fontFamily}`,
        };
        const width = rowsBox.clientWidth, most = Math.max(240, innerHeight * 0.7);
        gutter = width < 560 ? 68 : 104;
        size = {width, height: Math.min(most, layout.height + painter.AXIS)};
        rowsBox.style.height = `${size.height + 2}px`;
        th.find("rows-height").style.height = `${Math.max(0, layout.height + painter.AXIS - size.height)}px`;
        scaleCanvas(canvas, width, size.height);
        scaleCanvas(overview, overview.clientWidth, 44);
        painter.readTheme();
        ask();
    }

    // ---- the whole run, small ----

    // Which tracks it is about: accelerators, where anything is computed.
    const counted = data.tracks.filter((t) => t.kind === (data.works.length > 0 ? "accel" : "link"));
    const BINS = 600;
    const activity = (function () {
        const sum = new Float64Array(BINS), width = end / BINS;
        for (const track of counted)
            for (let i = 0; i < track.n; i++) {
                const length = track.end[i] - track.start[i];
                const part = length > 0 ? track.busy[i] / length : 0;
                for (let b = Math.floor(track.start[i] / width); b < BINS && b * width < track.end[i]; b++)
                    sum[b] += part * (Math.min(track.end[i], (b + 1) * width) - Math.max(track.start[i], b * width)) / width;
            }
        return sum.map((s) => Math.min(1, s / Math.max(1, counted.length)));
    })();

    function drawOverview() {
        const c = overview.getContext("2d"), width = overview.clientWidth, height = 44, left = gutter;
        const color = painter.colors(), inner = width - left;
        c.clearRect(0, 0, width, height);
        c.fillStyle = color.muted;
        c.font = look.fonts.text;
        c.textBaseline = "middle";
        c.textAlign = "right";
        c.fillText(data.works.length > 0 ? "busy" : "links", left - 8, height / 2);
        c.fillStyle = color.span[0];
        c.globalAlpha = 0.55;
        for (let b = 0; b < BINS; b++)
            c.fillRect(left + b / BINS * inner, height - 4 - activity[b] * (height - 8), inner / BINS + 0.5, activity[b] * (height - 8));
        c.globalAlpha = 1;
        const x0 = left + view.from / end * inner, x1 = left + view.to / end * inner;
        c.fillStyle = color.page;
        c.globalAlpha = 0.7;
        c.fillRect(left, 0, x0 - left, height);
        c.fillRect(x1, 0, width - x1, height);
        c.globalAlpha = 1;
        c.strokeStyle = color.accent;
        c.lineWidth = 1.5;
        c.strokeRect(x0 + 0.75, 1, Math.max(2, x1 - x0 - 1.5), height - 2);
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
        const row = layout.rows.find((r) => r.type !== "heading" && at >= r.y && at < r.y + r.height);
        if (!row || x < gutter)
            return null;
        const track = row.track, time = timeAt(x), near = 3 * (view.to - view.from) / (size.width - gutter);
        const lane = track.lanes[row.type === "engine" ? 0 : Math.floor((at - row.y) / painter.LANE)];
        if (!lane)
            return null;
        let best = null, distance = near;
        for (let i = th.firstFrom(lane, track, time - lane.longest - near); i < lane.spans.length; i++) {
            const span = lane.spans[i];
            if (track.start[span] > time + near)
                break;
            const off = Math.max(track.start[span] - time, time - track.end[span], 0);
            if (off <= distance) {
                best = {track, span};
                distance = off;
            }
        }
        return best;
    }

    const KINDS = ["compute", "transfer", "wait", "collective"];

    // Names and values of a span.
    function factsOf({track, span}) {
        const task = track.task[span], length = track.end[span] - track.start[span];
        const facts = [["start", th.time(track.start[span])], ["duration", th.time(length)]];
        if (track.count[span] > 1)
            return [...facts, ["tasks", track.count[span]], ["their time", th.time(track.busy[span])], ["longest", th.nameOf(data, task)]];
        facts.push(["task", tasks.number[task]], ["kind", KINDS[tasks.kind[task]]]);
        if (tasks.input[task] > 0)
            facts.push(["input", tasks.input[task]]);
        if (tasks.kind[task] === data.COMPUTE)
            painter.ENGINES.forEach((name, engine) => {
                if (painter.used[engine])
                    facts.push([name, th.percent(painter.engineShare(task, engine))]);
            });
        if (tasks.bytes[task] > 0)
            facts.push(["bytes", th.bytes(tasks.bytes[task])], ["mean rate", length > 0 ? th.rate(tasks.bytes[task] * 8e12 / length) : "-"]);
        if (tasks.kind[task] === data.COLLECTIVE && data.collectives[tasks.work[task]][2])
            facts.push(["algorithm", data.collectives[tasks.work[task]][2]]);
        if (tasks.isCritical[task])
            facts.push(["critical path", "yes"]);
        return facts;
    }

    const titleOf = ({track, span}) => track.count[span] > 1 ? `${track.count[span]} tasks` : th.nameOf(data, track.task[span]);
    const rowNameOf = ({track}) => ({path: "critical path", collective: "collectives"}[track.kind] || `${track.kind}/${track.name}`);

    function showTip(hit, x, y) {
        const list = th.make("dl");
        for (const [name, value] of factsOf(hit))
            list.append(th.make("div", {}, th.make("dt", {}, name), th.make("dd", {}, String(value))));
        tip.replaceChildren(th.make("b", {}, titleOf(hit)), document.createTextNode(` on ${rowNameOf(hit)}`), list);
        tip.hidden = false;
        const left = Math.min(x + 14, size.width - tip.offsetWidth - 4);
        tip.style.left = `${Math.max(4, left)}px`;
        tip.style.top = `${overview.offsetHeight + y + 16}px`;
    }

    function hideTip() {
        tip.hidden = true;
    }

    function pick(hit, isZoomed) {
        selected = hit;
        hideTip();
        if (hit === null) {
            picked.replaceChildren();
            ask();
            return;
        }
        const facts = factsOf(hit).map(([name, value]) => `${name} ${value}`).join(", ");
        picked.replaceChildren(th.make("b", {}, titleOf(hit)), document.createTextNode(` on ${rowNameOf(hit)}: ${facts}`));
        const {track, span} = hit, length = track.end[span] - track.start[span];
        if (isZoomed)
            show(track.start[span] - 2 * length, track.end[span] + 2 * length);
        else if (track.end[span] < view.from || track.start[span] > view.to)
            show((track.start[span] + track.end[span] - view.to + view.from) / 2, (track.start[span] + track.end[span] + view.to - view.from) / 2);
        const {y} = placeOf(hit);
        if (y < rowsBox.scrollTop || y > rowsBox.scrollTop + size.height - 60)
            rowsBox.scrollTop = y - size.height / 3;
        ask();
    }

    // The next or previous span of a row: from what is picked there, else the first one in view.
    function step(track, way) {
        if (!track || track.n === 0)
            return;
        let span = selected !== null && selected.track === track ? selected.span + way : -1;
        if (selected === null || selected.track !== track)
            span = Math.max(0, track.start.findIndex((start) => start >= view.from));
        pick({track, span: Math.min(track.n - 1, Math.max(0, span))}, false);
    }

    const pathTrack = data.tracks.find((t) => t.kind === "path");

    function rowInView() {
        if (selected !== null)
            return selected.track;
        const row = layout.rows.find((r) => r.type === "spans" && r.track.n > 0 && r.track.kind !== "path" && r.y >= rowsBox.scrollTop);
        return row ? row.track : pathTrack;
    }

    // ---- keys ----

    const keys = {
        ArrowLeft: (e) => pan(e.shiftKey ? -0.5 : -0.1),
        ArrowRight: (e) => pan(e.shiftKey ? 0.5 : 0.1),
        ArrowUp: () => zoom(1 / 1.4),
        ArrowDown: () => zoom(1.4),
        "+": () => zoom(1 / 1.4),
        "=": () => zoom(1 / 1.4),
        "-": () => zoom(1.4),
        PageUp: () => scrollRows(-size.height * 0.8),
        PageDown: () => scrollRows(size.height * 0.8),
        Home: () => show(0, end),
        n: () => step(rowInView(), 1),
        p: () => step(rowInView(), -1),
        "]": () => step(pathTrack, 1),
        "[": () => step(pathTrack, -1),
        Enter: () => selected !== null && pick(selected, true),
        Escape: () => pick(null),
    };

    rowsBox.addEventListener("keydown", (e) => {
        if (!keys[e.key] || e.ctrlKey || e.metaKey || e.altKey)
            return;
        e.preventDefault();
        keys[e.key](e);
    });

    // ---- wheel, mouse, touch ----

    const pointOf = (e) => {
        const box = rowsBox.getBoundingClientRect();
        return {x: e.clientX - box.left, y: e.clientY - box.top};
    };

    rowsBox.addEventListener("wheel", (e) => {
        const isSideways = Math.abs(e.deltaX) > Math.abs(e.deltaY);
        if (!isSideways && !e.ctrlKey && !e.metaKey && document.activeElement !== rowsBox)
            return; // the page scrolls, until the timeline is picked
        e.preventDefault();
        if (isSideways || e.shiftKey)
            pan((e.deltaX || e.deltaY) / size.width);
        else
            zoom(Math.exp(Math.max(-1, Math.min(1, e.deltaY * (e.deltaMode === 1 ? 0.05 : 0.0025)))), timeAt(pointOf(e).x));
    }, {passive: false});

    const pointers = new Map();
    let hasMoved = false;

    rowsBox.addEventListener("pointerdown", (e) => {
        pointers.set(e.pointerId, pointOf(e));
        hasMoved = false;
        if (e.pointerType === "mouse")
            rowsBox.setPointerCapture(e.pointerId);
    });

    function pinch(e) {
        const [a, b] = [...pointers.values()];
        const before = Math.max(10, Math.abs(a.x - b.x)), middle = timeAt((a.x + b.x) / 2);
        pointers.set(e.pointerId, pointOf(e));
        const [c, d] = [...pointers.values()];
        zoom(before / Math.max(10, Math.abs(c.x - d.x)), middle);
    }

    rowsBox.addEventListener("pointermove", (e) => {
        const before = pointers.get(e.pointerId), now = pointOf(e);
        if (!before) {
            const hit = e.pointerType === "mouse" ? spanAt(now.x, now.y) : null;
            return hit ? showTip(hit, now.x, now.y) : hideTip();
        }
        if (Math.hypot(now.x - before.x, now.y - before.y) < 3 && !hasMoved)
            return undefined;
        hasMoved = true;
        rowsBox.classList.add("dragged");
        if (pointers.size === 2)
            return pinch(e);
        pan((before.x - now.x) / (size.width - gutter));
        if (e.pointerType === "mouse")
            scrollRows(before.y - now.y);
        pointers.set(e.pointerId, now);
        return undefined;
    });

    function release(e) {
        const wasDown = pointers.delete(e.pointerId);
        rowsBox.classList.remove("dragged");
        if (wasDown && !hasMoved && e.type === "pointerup") {
            const {x, y} = pointOf(e);
            pick(spanAt(x, y));
        }
    }
    rowsBox.addEventListener("pointerup", release);
    rowsBox.addEventListener("pointercancel", release);
    rowsBox.addEventListener("pointerleave", hideTip);
    rowsBox.addEventListener("dblclick", (e) => zoom(0.4, timeAt(pointOf(e).x)));
    rowsBox.addEventListener("scroll", ask, {passive: true});

    function moveTo(e) {
        const time = (e.clientX - overview.getBoundingClientRect().left - gutter) / (overview.clientWidth - gutter) * end;
        const half = (view.to - view.from) / 2;
        show(time - half, time + half);
    }
    overview.addEventListener("pointerdown", (e) => {
        overview.setPointerCapture(e.pointerId);
        if (view.to - view.from >= end)
            zoom(0.25);
        moveTo(e);
    });
    overview.addEventListener("pointermove", (e) => e.buttons && moveTo(e));

    // ---- tools ----

    function toggle(button, isOn) {
        button.setAttribute("aria-pressed", String(isOn));
    }

    th.find("zoom-in").addEventListener("click", () => zoom(0.5));
    th.find("zoom-out").addEventListener("click", () => zoom(2));
    th.find("fit").addEventListener("click", () => show(0, end));
    th.find("critical").addEventListener("click", (e) => {
        look.critical = !look.critical;
        toggle(e.currentTarget, look.critical);
        ask();
    });
    th.find("engines").hidden = data.works.length === 0;
    th.find("engines").addEventListener("click", (e) => {
        hasEngines = !hasEngines;
        toggle(e.currentTarget, hasEngines);
        arrange();
    });
    toggle(th.find("engines"), hasEngines);
    th.find("search").hidden = data.layers.length === 0;
    th.find("search").addEventListener("input", (e) => {
        const part = e.currentTarget.value.trim().toLowerCase();
        look.layers = part === "" ? null
            : new Set(data.layers.map(([name], i) => (name.toLowerCase().includes(part) ? i : -1)).filter((i) => i >= 0));
        ask();
    });

    // ---- legend, and what is not drawn span by span ----

    (function () {
        const classes = new Set(Array.from(tasks.kind, (kind, i) =>
            kind === data.TRANSFER ? "transfer" : kind === data.COLLECTIVE ? "collective"
                : kind === data.COMPUTE && tasks.layer[i] >= 0 ? ["conv", "matrix", "other"][data.layers[tasks.layer[i]][1]] : ""));
        const names = {conv: "convolution", matrix: "matrix product, recurrent", other: "other layers", transfer: "transfer",
            collective: "collective"};
        for (const [name, text] of [...Object.entries(names).filter(([key]) => classes.has(key)), ["critical", "critical path"]])
            th.find("legend").append(th.make("li", {}, th.make("i", {style: `background: var(--${name})`}), text));
        const notes = [];
        if (data.works.length > 0)
            notes.push("Below an accelerator, engine by engine: the part of each task's time that its array computes, and that its " +
                "loads and stores would take at the full bandwidth of the DRAM.");
        if (data.resolution > 0)
            notes.push(`${data.spans.toLocaleString("en")} spans; those shorter than ${th.time(data.resolution)} are drawn together.`);
        if (data.hidden > 0)
            notes.push(`${data.hidden} links that were busy for less time are not shown.`);
        if (notes.length > 0)
            th.find("legend").after(th.make("p", {class: "note"}, notes.join(" ")));
    })();

    // ---- from tables to the timeline ----

    const placeOfTask = new Map(Array.from(tasks.number, (number, i) => [number, i]));

    function goToTask(number) {
        const task = placeOfTask.get(number);
        const span = pathTrack.task.indexOf(task);
        th.find("timeline").scrollIntoView();
        rowsBox.focus({preventScroll: true});
        if (span >= 0)
            pick({track: pathTrack, span}, true);
    }

    function goToLayer(name) {
        const layer = data.layers.findIndex(([other]) => other === name);
        const own = Array.from(tasks.layer.keys()).filter((i) => tasks.layer[i] === layer);
        th.find("search").value = name;
        look.layers = new Set([layer]);
        th.find("timeline").scrollIntoView();
        rowsBox.focus({preventScroll: true});
        if (own.length === 0)
            return show(0, end);
        const from = own.reduce((t, i) => Math.min(t, tasks.start[i]), end), to = own.reduce((t, i) => Math.max(t, tasks.end[i]), 0);
        return show(from - (to - from) / 2, to + (to - from) / 2);
    }

    // The cells of a column become buttons.
    function link(table, name, action) {
        const column = table ? [...table.tHead.rows[0].cells].findIndex((c) => c.dataset.name === name) : -1;
        for (const row of column >= 0 ? table.tBodies[0].rows : []) {
            const cell = row.cells[column], text = cell.textContent;
            const button = th.make("button", {type: "button", class: "go", title: "Show in the timeline"}, text);
            if (action(text, button))
                cell.replaceChildren(button);
        }
    }
    link(th.find("table-critical_path"), "task", (text, button) => {
        button.addEventListener("click", () => goToTask(Number(text)));
        return placeOfTask.has(Number.parseInt(text, 10));
    });
    link(th.find("table-layer_figures"), "layer", (text, button) => {
        button.addEventListener("click", () => goToLayer(text));
        return true;
    });

    document.addEventListener("theme", arrange);
    addEventListener("resize", arrange);
    arrange();
})();
