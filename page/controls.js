// SPDX-License-Identifier: GPL-3.0-or-later
// controls.js - keys, mouse, touch, the tools above the timeline, and the ways that lead to it from tables and the
// picture.
th.takeControls = function () {
    const {data, painter, usage, end, view, look, now, rowsBox, overview, ask, arrange, timeAt, show, zoom} =
        th.timeline;
    const {pan, scrollRows, spanAt, faultAt, showTip, hideTip, pick, step, pathTrack, rowInView, reveal, openFolds} = th.timeline;
    const {tasks} = data;

    // ---- keys ----

    const keys = {
        ArrowLeft: (e) => pan(e.shiftKey ? -0.5 : -0.1),
        ArrowRight: (e) => pan(e.shiftKey ? 0.5 : 0.1),
        ArrowUp: () => zoom(1 / 1.4),
        ArrowDown: () => zoom(1.4),
        "+": () => zoom(1 / 1.4),
        "=": () => zoom(1 / 1.4),
        "-": () => zoom(1.4),
        PageUp: () => scrollRows(-now.size.height * 0.8),
        PageDown: () => scrollRows(now.size.height * 0.8),
        Home: () => show(0, end),
        n: () => step(rowInView(), 1),
        p: () => step(rowInView(), -1),
        "]": () => step(pathTrack(), 1),
        "[": () => step(pathTrack(), -1),
        Enter: () => now.selected !== null && pick(now.selected, true),
        Escape: () => pick(null),
    };

    rowsBox.addEventListener("keydown", (e) => {
        if (!keys[e.key] || (e.target !== rowsBox && e.key === "Enter") || e.ctrlKey || e.metaKey || e.altKey) return;
        e.preventDefault();
        keys[e.key](e);
    });

    addEventListener("keydown", (e) => e.key === "Escape" && hideTip()); // wherever the focus is

    // ---- wheel, mouse, touch ----

    const pointOf = (e) => {
        const box = rowsBox.getBoundingClientRect();
        return {x: e.clientX - box.left, y: e.clientY - box.top};
    };

    rowsBox.addEventListener(
        "wheel",
        (e) => {
            const isSideways = Math.abs(e.deltaX) > Math.abs(e.deltaY);
            if (!isSideways && !e.ctrlKey && !e.metaKey && document.activeElement !== rowsBox) return; // the page scrolls, until the timeline is picked
            e.preventDefault();
            if (isSideways || e.shiftKey) pan((e.deltaX || e.deltaY) / now.size.width);
            else
                zoom(
                    Math.exp(Math.max(-1, Math.min(1, e.deltaY * (e.deltaMode === 1 ? 0.05 : 0.0025)))),
                    timeAt(pointOf(e).x),
                );
        },
        {passive: false},
    );

    const pointers = new Map();
    let hasMoved = false;

    rowsBox.addEventListener("pointerdown", (e) => {
        pointers.set(e.pointerId, pointOf(e));
        hasMoved = false;
        if (e.pointerType === "mouse") rowsBox.setPointerCapture(e.pointerId);
    });

    function pinch(e) {
        const [a, b] = [...pointers.values()];
        const before = Math.max(10, Math.abs(a.x - b.x)),
            middle = timeAt((a.x + b.x) / 2);
        pointers.set(e.pointerId, pointOf(e));
        const [c, d] = [...pointers.values()];
        zoom(before / Math.max(10, Math.abs(c.x - d.x)), middle);
    }

    rowsBox.addEventListener("pointermove", (e) => {
        const before = pointers.get(e.pointerId),
            here = pointOf(e);
        if (!before) {
            const hit =
                e.pointerType === "mouse" ? spanAt(here.x, here.y) || faultAt(here.x, here.y) : null;
            return hit ? showTip(hit, here.x, here.y) : hideTip();
        }
        if (Math.hypot(here.x - before.x, here.y - before.y) < 3 && !hasMoved) return undefined;
        hasMoved = true;
        rowsBox.classList.add("dragged");
        if (pointers.size === 2) return pinch(e);
        pan((before.x - here.x) / (now.size.width - now.gutter));
        if (e.pointerType === "mouse") scrollRows(before.y - here.y);
        pointers.set(e.pointerId, here);
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
        const time =
            ((e.clientX - overview.getBoundingClientRect().left - now.gutter) /
                (overview.clientWidth - now.gutter)) *
            end;
        const half = (view.to - view.from) / 2;
        show(time - half, time + half);
    }
    overview.addEventListener("pointerdown", (e) => {
        overview.setPointerCapture(e.pointerId);
        if (view.to - view.from >= end) zoom(0.25);
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
    th.find("engines").hidden = !data.computes;
    th.find("engines").addEventListener("click", (e) => {
        now.hasEngines = !now.hasEngines;
        toggle(e.currentTarget, now.hasEngines);
        arrange();
    });
    toggle(th.find("engines"), now.hasEngines);
    th.find("open-links").hidden = painter.folds.size === 0;
    th.find("open-links").addEventListener("click", (e) => {
        const isOpen = e.currentTarget.getAttribute("aria-pressed") !== "true";
        toggle(e.currentTarget, isOpen);
        openFolds([...painter.folds.values()], isOpen);
    });
    const search = th.find("find-layer"),
        sought = data.groups || "layer";
    search.hidden = data.layers.length === 0;
    search.placeholder = `Find a ${sought}`;
    search.ariaLabel = `Highlight spans of each ${sought} with this in its name`;
    search.addEventListener("input", (e) => {
        const part = e.currentTarget.value.trim().toLowerCase();
        look.layers =
            part === ""
                ? null
                : new Set(
                      data.layers
                          .map(([name], i) => (name.toLowerCase().includes(part) ? i : -1))
                          .filter((i) => i >= 0),
                  );
        ask();
    });

    // ---- colours and their legend ----

    const COLOR_NAMES = [...Array.from({length: painter.GROUP_COLORS}, (_, i) => `c${i}`), "transfer", "collective", "critical"];
    const MOST_IN_LEGEND = 16;

    function legendItem(color, text, alpha = 1) {
        const box = th.make("i", {style: `background: var(--${color}); opacity: ${alpha}`});
        return th.make("li", {}, box, text);
    }

    function showLegend(grouping) {
        const isUsed = new Set(Array.from(tasks.layer).filter((layer) => layer >= 0).map((layer) => grouping.of[layer]));
        const names = grouping.names.map((name, i) => [name, i]).filter(([, i]) => isUsed.has(i));
        const items = names
            .slice(0, MOST_IN_LEGEND)
            .map(([name, i]) => legendItem(`c${i % painter.GROUP_COLORS}`, name));
        if (names.length > MOST_IN_LEGEND)
            items.push(th.make("li", {}, `and ${names.length - MOST_IN_LEGEND} more, whose colours take turns`));
        if (tasks.kind.includes(data.TRANSFER)) items.push(legendItem("transfer", "transfer"));
        if (tasks.kind.includes(data.COLLECTIVE)) items.push(legendItem("collective", "collective"));
        items.push(legendItem("critical", "critical path"));
        const faults = new Set(data.tracks.flatMap((t) => t.faults.map((f) => f.what)));
        const named = (list) => list.filter((what) => faults.has(what)).join(", ");
        const stops = named(["down", "dead"]),
            slows = named(["degraded", "avoided", "slow", "jitter", "fast"]);
        if (stops) items.push(legendItem("fault", stops));
        if (slows) items.push(legendItem("fault", slows, 0.5));
        th.find("legend").replaceChildren(...items);
    }

    (function () {
        const choice = th.find("color-by"),
            groupings = th.groupings(data);
        const choose = (grouping) => {
            painter.colorBy(grouping);
            showLegend(grouping);
            ask();
        };
        choice.append(...groupings.map((g) => th.make("option", {value: g.id}, g.title)));
        choice.parentElement.hidden = data.layers.length === 0;
        choice.addEventListener("change", () => choose(groupings.find((g) => g.id === choice.value)));
        choose(groupings[0]);
        th.find("usage").append(
            ...usage.curves.map((curve) => legendItem(COLOR_NAMES[curve.color], curve.name, curve.alpha)),
        );
    })();

    // ---- what is not drawn span by span ----

    (function () {
        const notes = [];
        if (painter.folds.size > 0)
            notes.push("The links of one host, switch or island are one row, which shows the part of them that is in use; its name opens it, and All links opens each.");
        if (data.computes)
            notes.push(
                "Engines shows below each accelerator, engine by engine, the part of each task's time that its array computes, and that its " +
                    "loads and stores would take at the full bandwidth of the DRAM.",
            );
        if (data.resolution > 0)
            notes.push(
                `${data.spans.toLocaleString("en")} spans; those shorter than ${th.time(data.resolution)} are drawn together.`,
            );
        if (data.hidden > 0) notes.push(`${data.hidden} links that were busy for less time are not shown.`);
        if (notes.length > 0) th.find("legend").after(th.make("p", {class: "note"}, notes.join(" ")));
    })();

    // ---- from tables to the timeline ----

    const placeOfTask = new Map(Array.from(tasks.number, (number, i) => [number, i]));

    // On the critical path, or else on the first row that has it.
    function goToTask(number) {
        const task = placeOfTask.get(number);
        const track = [pathTrack(), ...data.tracks].find((t) => t.task.includes(task));
        th.find("timeline").scrollIntoView();
        rowsBox.focus({preventScroll: true});
        if (track) pick({track, span: track.task.indexOf(task)}, true);
    }

    function goToLayer(name) {
        const layer = data.layers.findIndex(([other]) => other === name);
        const own = Array.from(tasks.layer.keys()).filter((i) => tasks.layer[i] === layer);
        th.find("find-layer").value = name;
        look.layers = new Set([layer]);
        th.find("timeline").scrollIntoView();
        rowsBox.focus({preventScroll: true});
        if (own.length === 0) return show(0, end);
        const from = own.reduce((t, i) => Math.min(t, tasks.start[i]), end),
            to = own.reduce((t, i) => Math.max(t, tasks.end[i]), 0);
        return show(from - (to - from) / 2, to + (to - from) / 2);
    }

    // The row of an accelerator or a link comes to the top.
    function goToRow(kind, name) {
        reveal(data.tracks.find((t) => t.kind === kind && t.name === name));
        const row = now.layout.rows.find(
            (r) => r.type === "spans" && r.track.kind === kind && r.track.name === name,
        );
        th.find("timeline").scrollIntoView();
        rowsBox.focus({preventScroll: true});
        rowsBox.scrollTop = row.y - 8;
        ask();
    }

    const hasRow = (kind, name) => data.tracks.some((t) => t.kind === kind && t.name === name);

    // The cells of a column become buttons.
    function link(table, name, action) {
        const column = table ? [...table.tHead.rows[0].cells].findIndex((c) => c.dataset.name === name) : -1;
        for (const row of column >= 0 ? table.tBodies[0].rows : []) {
            const cell = row.cells[column],
                text = cell.textContent;
            const button = th.make(
                "button",
                {type: "button", class: "go", title: "Show in the timeline"},
                text,
            );
            if (action(text, button)) cell.replaceChildren(button);
        }
    }
    for (const [id, column] of [
        ["table-critical_path", "task"],
        ["table-contention", "task"],
        ["table-contention", "by"],
        ["table-collectives", "task"],
    ])
        link(th.find(id), column, (text, button) => {
            button.addEventListener("click", () => goToTask(Number(text)));
            return placeOfTask.has(Number.parseInt(text, 10));
        });
    link(th.find("table-layer_figures"), "layer", (text, button) => {
        button.addEventListener("click", () => goToLayer(text));
        return true;
    });
    for (const [id, column, kind] of [
        ["table-links", "link", "link"],
        ["table-accelerators", "accel", "accel"],
    ])
        link(th.find(id), column, (text, button) => {
            button.addEventListener("click", () => goToRow(kind, text));
            return hasRow(kind, text);
        });
    const paths = [...document.querySelectorAll(".links path[data-link]")].filter((path) => hasRow("link", path.dataset.link));
    paths.forEach((path, at) => {
        const name = path.dataset.link;
        path.classList.add("leads");
        for (const [key, value] of Object.entries({role: "button", "aria-label": `link/${name}`, "data-at": at, tabindex: at === 0 ? 0 : -1}))
            path.setAttribute(key, value);
        path.addEventListener("click", () => goToRow("link", name));
    });
    if (paths.length > 0) th.rove(paths[0].parentNode, ".leads");
};
