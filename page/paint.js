// SPDX-License-Identifier: GPL-3.0-or-later
// paint.js - draws rows of spans into a canvas. Spans of less than a pixel are added up by column and drawn as
// what part of it they fill, so the work per row is bounded by its width and one look at each span in view.
th.painter = function (data) {
    const {tasks} = data;
    const LANE = 14,
        ENGINE = 9,
        GAP = 5,
        HEADING = 22,
        FOLD = 20,
        LEAST_FOLDED = 3, // links of a group that has fewer have rows of their own
        MOST_LANES = 6;
    const ENGINES = ["array", "inputs", "weights", "sums", "outputs"];
    const LEVELS = 4; // shades of what a column of pixels is filled with

    // ---- colours ----

    // Groups of layers take turns; the others have a colour each.
    const GROUP_COLORS = 7;
    const NAMES = ["c0", "c1", "c2", "c3", "c4", "c5", "c6", "transfer", "collective", "critical", "fault"];
    const TRANSFER = 7,
        COLLECTIVE = 8,
        CRITICAL = 9,
        FAULT = 10,
        DIM = 16; // added to the colour of spans that stand back
    let color = {};

    // Black or white, whichever is seen better on a colour "#rrggbb" (relative luminance of WCAG 2, section 1.4.3).
    function inkOn(background) {
        const [r, g, b] = [1, 3, 5].map((at) => {
            const share = Number.parseInt(background.slice(at, at + 2), 16) / 255;
            return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? "#101418" : "#ffffff";
    }

    function readTheme() {
        const style = getComputedStyle(document.documentElement);
        const value = (name) => style.getPropertyValue(`--${name}`).trim();
        const span = NAMES.map(value);
        color = {
            span,
            ink: span.map(inkOn),
            text: value("text"),
            muted: value("muted"),
            rule: value("rule"),
            page: value("raised"),
            accent: value("accent"),
            idle: value("idle"),
        };
    }

    const colorOfTask = new Uint8Array(tasks.n);

    function colorBy(grouping) {
        for (let i = 0; i < tasks.n; i++) {
            if (tasks.kind[i] === data.TRANSFER) colorOfTask[i] = TRANSFER;
            else if (tasks.kind[i] === data.COLLECTIVE) colorOfTask[i] = COLLECTIVE;
            else colorOfTask[i] = tasks.layer[i] >= 0 ? grouping.of[tasks.layer[i]] % GROUP_COLORS : 0;
        }
    }

    // ---- rows ----

    // What part of its time an engine of an accelerator was at work in a task: the array by what it computes, the
    // others by what they move at the bandwidth of the DRAM.
    function engineShare(task, engine) {
        const duration = tasks.end[task] - tasks.start[task];
        return duration > 0 ? Math.min(1, tasks[ENGINES[engine]][task] / duration) : 0;
    }

    const used = ENGINES.map((name, engine) => engine === 0 || tasks[name].some((time) => time > 0));

    // Links of one group in one run are a fold: one row of their mean, and rows of their own where it is open.
    const folds = new Map();
    for (const track of data.tracks.filter((t) => t.group)) {
        const key = `${track.run} ${track.group}`;
        if (!folds.has(key)) folds.set(key, {key, name: track.group, tracks: []});
        folds.get(key).tracks.push(track);
    }
    for (const [key, fold] of folds) {
        if (fold.tracks.length < LEAST_FOLDED) folds.delete(key);
        else for (const track of fold.tracks) track.fold = fold;
        const faults = fold.tracks.flatMap((t) => t.faults.map((f) => ({...f, of: `link/${t.name}`})));
        Object.assign(fold, {label: `${fold.name}, mean of ${fold.tracks.length}`, kind: "fold", run: fold.tracks[0].run, faults});
    }

    // Rows of one group follow each other.
    const tracks = data.tracks.flatMap((t) => (!t.fold ? [t] : t === t.fold.tracks[0] ? t.fold.tracks : []));

    function makeRows(withEngines, opened) {
        const rows = [];
        let y = 4,
            kind = "";
        for (const track of tracks) {
            if (data.runs.length > 1 && track.kind === "path") {
                rows.push({type: "heading", label: data.runs[track.run].name, y, height: HEADING, isRun: true});
                y += HEADING;
            }
            const title = {accel: data.groups === "purpose" ? "Accelerators, by stage.name" : "Accelerators", link: "Links"}[track.kind];
            if (title && track.kind !== kind) {
                const prefix = data.rowPrefix[track.kind];
                rows.push({type: "heading", label: prefix ? `${title} ${prefix}\u2026` : title, y, height: HEADING});
                y += HEADING;
            }
            kind = track.kind;
            if (track.fold && track === track.fold.tracks[0]) {
                rows.push({type: "fold", track: track.fold, label: `\u25b8 ${track.fold.label}`, y, height: FOLD});
                y += FOLD + GAP;
            }
            if (track.fold && !opened.has(track.fold.key)) continue;
            track.lanes = track.lanes || th.lanesOf(track, MOST_LANES);
            const height = Math.max(1, track.lanes.length) * LANE;
            const label =
                {path: "critical path", collective: data.isMerged ? "messages" : "collectives"}[track.kind] ||
                track.name.slice(data.rowPrefix[track.kind].length);
            rows.push({type: "spans", track, label, y, height});
            y += height + (withEngines && track.kind === "accel" && track.faults.length === 0 ? 2 : GAP);
            for (let engine = 0; withEngines && track.kind === "accel" && engine < ENGINES.length; engine++)
                if (used[engine]) {
                    rows.push({
                        type: "engine",
                        track,
                        engine,
                        label: ENGINES[engine],
                        y,
                        height: ENGINE + 1,
                    });
                    y += ENGINE + 3;
                }
            y += withEngines && track.kind === "accel" ? GAP : 0;
        }
        return {rows, height: y + 4};
    }

    // ---- one lane ----

    let filled = new Float32Array(0),
        filledBy = new Uint8Array(0);

    function isDim(task, look) {
        return (
            (look.critical && !tasks.isCritical[task]) ||
            (look.layers !== null && !look.layers.has(tasks.layer[task]))
        );
    }

    function colorOf(task, track, look) {
        return track.kind === "path" || (look.critical && tasks.isCritical[task])
            ? CRITICAL
            : colorOfTask[task];
    }

    // Columns that are filled alike become one rectangle.
    function flush(ctx, box, from, to) {
        let x = from;
        while (x < to) {
            const level = Math.min(LEVELS, Math.ceil(filled[x] * LEVELS)),
                by = filledBy[x];
            let end = x + 1;
            while (
                end < to &&
                filledBy[end] === by &&
                Math.min(LEVELS, Math.ceil(filled[end] * LEVELS)) === level
            )
                end++;
            if (level > 0) {
                ctx.globalAlpha = (by & DIM ? 0.16 : 1) * (0.25 + (0.75 * level) / LEVELS);
                ctx.fillStyle = color.span[by & 15];
                ctx.fillRect(box.left + x, box.y, end - x, box.height);
            }
            x = end;
        }
        ctx.globalAlpha = 1;
        filled.fill(0, from, to);
    }

    function label(ctx, box, text, x, width, by) {
        const shown = by & DIM ? "" : th.fitName(text, Math.floor((width - 6) / 6));
        if (shown === "") return;
        ctx.fillStyle = color.ink[by & 15];
        ctx.fillText(shown, box.left + x + 4, box.y + box.height / 2 + 0.5);
    }

    function paintLane(ctx, box, track, lane, view, look) {
        const scale = box.width / (view.to - view.from);
        let i = th.firstFrom(lane, track, view.from - lane.longest),
            first = box.width,
            last = 0;
        for (; i < lane.spans.length; i++) {
            const span = lane.spans[i],
                task = track.task[span];
            if (track.start[span] >= view.to) break;
            const x0 = Math.max(0, (track.start[span] - view.from) * scale);
            const x1 = Math.min(box.width, (track.end[span] - view.from) * scale);
            if (x1 < 0 || track.end[span] < view.from) continue;
            const by = colorOf(task, track, look) | (isDim(task, look) ? DIM : 0);
            const part =
                track.end[span] > track.start[span]
                    ? Math.min(1, track.busy[span] / (track.end[span] - track.start[span]))
                    : 1;
            if (x1 - x0 < 1.5) {
                const x = Math.min(box.width - 1, Math.floor(x0));
                filled[x] += Math.max(0.02, (x1 - x0) * part);
                if (!(by & DIM) || filled[x] < 0.05) filledBy[x] = by;
                first = Math.min(first, x);
                last = Math.max(last, x + 1);
                continue;
            }
            ctx.globalAlpha = (by & DIM ? 0.16 : 1) * (track.count[span] > 1 ? 0.25 + 0.75 * part : 1);
            ctx.fillStyle = color.span[by & 15];
            ctx.fillRect(box.left + x0, box.y, Math.max(1, x1 - x0 - (x1 - x0 > 4 ? 1 : 0)), box.height);
            ctx.globalAlpha = 1;
            label(
                ctx,
                box,
                track.count[span] > 1 ? `${track.count[span]} tasks` : th.nameOf(data, task),
                x0,
                x1 - x0,
                by,
            );
        }
        if (first < last) flush(ctx, box, first, last);
    }

    function paintEngine(ctx, box, row, view, look) {
        const track = row.track,
            scale = box.width / (view.to - view.from);
        ctx.fillStyle = color.idle;
        ctx.fillRect(box.left, box.y + box.height - 1, box.width, 1);
        for (const lane of track.lanes) {
            let i = th.firstFrom(lane, track, view.from - lane.longest),
                first = box.width,
                last = 0;
            for (; i < lane.spans.length && track.start[lane.spans[i]] < view.to; i++) {
                const span = lane.spans[i],
                    task = track.task[span];
                const x0 = Math.max(0, (track.start[span] - view.from) * scale),
                    x1 = Math.min(box.width, (track.end[span] - view.from) * scale);
                if (x1 < x0) continue;
                const length = track.end[span] - track.start[span];
                const share = engineShare(task, row.engine) * (length > 0 ? track.busy[span] / length : 0);
                fillColumns(box, x0, x1, share, isDim(task, look) ? 1 : 0);
                first = Math.min(first, Math.floor(x0));
                last = Math.max(last, Math.min(box.width, Math.ceil(x1)));
            }
            paintColumns(ctx, box, first, last, row.engine === 0 ? color.span[0] : color.muted);
        }
    }

    function fillColumns(box, x0, x1, share, by) {
        for (let x = Math.floor(x0); x < x1 && x < box.width; x++) {
            filled[x] += share * (Math.min(x + 1, x1) - Math.max(x, x0));
            filledBy[x] = by;
        }
    }

    // The part of a group's links that are in use; where some tasks stand out, once more that of theirs alone.
    function paintFold(ctx, box, {track: fold}, view, look) {
        const scale = box.width / (view.to - view.from);
        const paintMean = (coverOf, by) => {
            for (const cover of fold.tracks.map(coverOf))
                for (let i = 0; i < cover.n; i++) {
                    if (cover.end[i] <= view.from || cover.start[i] >= view.to) continue;
                    const x0 = Math.max(0, (cover.start[i] - view.from) * scale),
                        x1 = Math.min(box.width, (cover.end[i] - view.from) * scale),
                        share = cover.busy[i] / (cover.end[i] - cover.start[i]);
                    fillColumns(box, x0, x1, share / fold.tracks.length, by);
                }
            paintColumns(ctx, box, 0, box.width, color.span[look.critical && by === 0 ? CRITICAL : TRANSFER]);
        };
        const isStanding = look.critical || look.layers !== null;
        ctx.fillStyle = color.idle;
        ctx.fillRect(box.left, box.y + box.height - 1, box.width, 1);
        paintMean((track) => (track.cover = track.cover || th.coverOf(track)), isStanding ? 1 : 0);
        if (isStanding) paintMean((track) => th.coverOf(track, (task) => !isDim(task, look)), 0);
    }

    // As heights, in quarters of a pixel: one shape for what is to be seen well, one for the rest.
    function paintColumns(ctx, box, from, to, fill) {
        const bottom = box.y + box.height;
        ctx.fillStyle = fill;
        for (const isDim of [0, 1]) {
            let isEmpty = true;
            for (let x = from; x < to;) {
                const by = filledBy[x],
                    height = Math.round(4 * Math.min(1, filled[x]) * box.height) / 4;
                let end = x + 1;
                while (
                    end < to &&
                    filledBy[end] === by &&
                    Math.round(4 * Math.min(1, filled[end]) * box.height) / 4 === height
                )
                    end++;
                if (height > 0 && by === isDim) {
                    if (isEmpty) ctx.beginPath();
                    isEmpty = false;
                    ctx.rect(box.left + x, bottom - height, end - x, height);
                }
                x = end;
            }
            ctx.globalAlpha = isDim ? 0.2 : 1;
            if (!isEmpty) ctx.fill();
        }
        ctx.globalAlpha = 1;
        if (from < to) filled.fill(0, from, to);
    }

    // ---- faults ----

    // What stops all work on the row; the others slow it.
    const STOPS = new Set(["down", "dead"]);
    const STRIP = 3; // below the spans, in the gap between rows

    // A tint of the row behind its spans, and a strip below them: pale where work goes on.
    function paintFaults(ctx, box, track, view) {
        const scale = box.width / (view.to - view.from);
        ctx.fillStyle = color.span[FAULT];
        for (const {what, from, to} of track.faults) {
            if (to <= view.from || from >= view.to) continue;
            const x0 = Math.max(0, (from - view.from) * scale),
                x1 = Math.min(box.width, (to - view.from) * scale),
                width = Math.max(1.5, x1 - x0);
            ctx.globalAlpha = 0.14;
            ctx.fillRect(box.left + x0, box.y - 1, width, box.height + 1);
            ctx.globalAlpha = STOPS.has(what) ? 1 : 0.5;
            ctx.fillRect(box.left + x0, box.y + box.height, width, STRIP);
        }
        ctx.globalAlpha = 1;
    }

    // ---- axis ----

    // The step of 1, 2 or 5 times a power of ten that leaves this number of pixels between marks.
    function stepOf(span, width) {
        const least = span / Math.max(2, Math.floor(width / 110));
        const power = 10 ** Math.floor(Math.log10(least));
        return [1, 2, 5, 10].map((m) => m * power).find((step) => step >= least * 0.999);
    }

    function paintAxis(ctx, box, view, height) {
        const step = Math.max(1, stepOf(view.to - view.from, box.width));
        const [unit, size] = th.unitOf("_ps", Math.max(view.to, 1));
        const decimals = Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9));
        ctx.textAlign = "left";
        for (let i = Math.ceil(view.from / step); i * step <= view.to; i++) {
            const x =
                Math.round(box.left + ((i * step - view.from) / (view.to - view.from)) * box.width) + 0.5;
            ctx.fillStyle = color.rule;
            ctx.fillRect(x - 0.5, 0, 1, height);
            ctx.fillStyle = color.muted;
            const text = `${((i * step) / size).toFixed(decimals)} ${unit}`;
            if (x + 4 + ctx.measureText(text).width < box.left + box.width) ctx.fillText(text, x + 4, 10);
        }
    }

    // ---- all rows in view ----

    const AXIS = 20;

    function paintRow(ctx, row, box, view, look, gutter) {
        ctx.textAlign = "left";
        if (row.type === "heading") {
            ctx.fillStyle = row.isRun ? color.accent : color.text;
            ctx.font = look.fonts.heading;
            if (row.isRun) ctx.fillRect(0, Math.round(box.y), box.left + box.width, 1);
            ctx.fillText(row.label, 4, box.y + row.height - 9);
            ctx.font = look.fonts.text;
            return;
        }
        ctx.fillStyle = row.type === "engine" ? color.muted : color.text;
        ctx.textAlign = "right";
        ctx.font = row.type === "engine" ? look.fonts.small : look.fonts.text;
        if (row.type !== "fold") ctx.fillText(row.label, gutter - 8, box.y + Math.min(row.height, LANE) / 2 + 0.5, gutter - 12);
        ctx.font = look.fonts.span;
        ctx.textAlign = "left";
        if (row.type !== "engine") paintFaults(ctx, {...box, height: row.height}, row.track, view);
        if (row.type === "engine") paintEngine(ctx, {...box, height: ENGINE}, row, view, look);
        else if (row.type === "fold") paintFold(ctx, {...box, height: FOLD}, row, view, look);
        else
            row.track.lanes.forEach((lane, i) =>
                paintLane(ctx, {...box, y: box.y + i * LANE, height: LANE - 1}, row.track, lane, view, look),
            );
        ctx.font = look.fonts.text;
    }

    function paint(ctx, size, rows, scroll, view, look, gutter) {
        const width = Math.max(10, Math.floor(size.width - gutter));
        if (filled.length < width + 2) {
            filled = new Float32Array(width + 2);
            filledBy = new Uint8Array(width + 2);
        }
        ctx.clearRect(0, 0, size.width, size.height);
        ctx.font = look.fonts.text;
        ctx.textBaseline = "middle";
        const box = {left: gutter, y: 0, width, height: 0};
        paintAxis(ctx, box, view, size.height);
        ctx.save();
        ctx.beginPath();
        ctx.rect(0, AXIS, size.width, size.height - AXIS);
        ctx.clip();
        for (const row of rows) {
            const y = row.y - scroll + AXIS;
            if (y + row.height >= AXIS && y <= size.height)
                paintRow(ctx, row, {...box, y}, view, look, gutter);
        }
        ctx.restore();
    }

    readTheme();
    return {
        colorBy,
        GROUP_COLORS,
        folds,
        makeRows,
        paint,
        readTheme,
        engineShare,
        ENGINES,
        LANE,
        AXIS,
        used,
        STRIP,
        colors: () => color,
    };
};

// ---- what a task is called ----

th.nameOf = function (data, task) {
    const {tasks, layers, nodes, collectives} = data;
    const layer = tasks.layer[task] >= 0 ? layers[tasks.layer[task]][0].slice(data.layerPrefix.length) : "";
    if (tasks.kind[task] === data.TRANSFER)
        return `${layer ? `${layer}: ` : ""}${nodes[tasks.from[task]]} \u2192 ${nodes[tasks.to[task]]}`;
    if (tasks.kind[task] === data.COLLECTIVE)
        return `${layer && data.groups ? `${layer}: ` : ""}${collectives[tasks.entry[task]][0]} of ${collectives[tasks.entry[task]][1]}`;
    return layer || `task ${tasks.number[task]}`;
};
