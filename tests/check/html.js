// SPDX-License-Identifier: GPL-3.0-or-later
// html.js - what must hold of the pages of write_report in a browser, told in TAP: html.js FOLDER
// The pages are those of html.tcl. $CHROMIUM is the browser, playwright-core drives it.
"use strict";
const {chromium} = require("playwright-core");
const fs = require("fs");
const path = require("path");

const folder = process.argv[2];
const facts = JSON.parse(fs.readFileSync(path.join(folder, "facts.json"), "utf8"));
const STEP_MS = 60,
    PAGE_BYTES = 3e6,
    PHONE = {width: 360, height: 740},
    DESK = {width: 1280, height: 900};
let count = 0;

function check(holds, name, got) {
    console.log(`${holds ? "ok" : "not ok"} ${++count} - ${name}`);
    if (!holds && got !== undefined) console.log(`# got: ${JSON.stringify(got)}`);
}

const near = (a, b) => Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b));

// Opens a page of the folder; what it says in the console, throws, opens or asks for is kept in page.complaints.
async function open(browser, name, options) {
    const page = await browser.newPage(options);
    page.complaints = [];
    page.on("console", (m) => page.complaints.push(`${m.type()}: ${m.text()}`));
    page.on("pageerror", (e) => page.complaints.push(e.message));
    page.on("dialog", (d) => page.complaints.push(`dialog: ${d.message()}`) && d.dismiss());
    page.on(
        "request",
        (r) =>
            r.url().endsWith(name) ||
            r.url().startsWith("data:") ||
            page.complaints.push(`asks for ${r.url()}`),
    );
    await page.goto(`file://${path.join(folder, name)}`);
    await page.waitForFunction(() => th.timeline || document.querySelector("svg.study"));
    await frame(page);
    return page;
}

// Until what was asked for has been drawn.
const frame = (page) =>
    page.evaluate(() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r))));

const viewOf = (page) =>
    page.evaluate(() => {
        const {from, to} = document.getElementById("rows").dataset;
        return {from: Number(from), to: Number(to)};
    });

async function lengthAfter(page, action) {
    await action();
    await frame(page);
    const {from, to} = await viewOf(page);
    return to - from;
}

// ---- content ----

async function checkContent(page) {
    const end = facts.summary.summary.makespan_ps;
    const text = await page.evaluate(() => document.querySelector("header").innerText);
    for (const word of [
        "alexnet",
        "f1_16xlarge",
        facts.summary.mapping,
        "seed 1",
        `tharsis ${facts.summary.version}`,
    ])
        check(
            text.includes(word),
            `the head names ${word === facts.summary.mapping ? "the mapping's digest" : word}`,
            text,
        );
    const sections = await page.evaluate(() => [...document.querySelectorAll("section")].map((s) => s.id));
    check(
        sections.join() === "summary,topology,timeline,figures,bounds,sensitivity,path,layers,mapping,utilization,links,memory,search",
        "all sections",
        sections,
    );
    const rows = (id) =>
        page.evaluate((name) => document.getElementById(name).tBodies[0].rows.length, `table-${id}`);
    check((await rows("layer_figures")) === facts.layers.layer_figures.length, "a row for every layer");
    check(
        (await rows("critical_path")) === facts.path.critical_path.length,
        "a row for every task of the critical path",
    );
    const held = await page.evaluate(() =>
        [...document.getElementById("table-contention").tBodies[0].rows].map((row) => row.cells[1].textContent),
    );
    check(
        held.length > 0 && held.join() === facts.path.contention.map((t) => String(t.task)).slice(0, 20).join(),
        "the tasks that contention delayed longest",
        held,
    );
    const picture = await page.evaluate(() => [
        document.querySelectorAll(".box").length,
        document.querySelectorAll(".links path").length,
    ]);
    check(picture.join() === "8,40", "the picture has the accelerators and links", picture);
    const curve = await page.evaluate(() => [
        document.querySelectorAll(".curve .best").length,
        document.querySelectorAll(".curve .dot").length,
        document.getElementById("table-convergence").tBodies[0].rows.length,
    ]);
    check(curve[0] === 1 && curve[1] === curve[2] && curve[1] > 0, "the convergence is drawn", curve);
    const spans = await page.evaluate(() => {
        const {data} = th.timeline;
        const track = data.tracks.find((t) => t.kind === "path");
        return {
            end: data.end,
            numbers: [...data.tasks.number],
            start: [...data.tasks.start],
            to: [...data.tasks.end],
            bytes: [...data.tasks.bytes],
            path: [...track.task].map((i) => data.tasks.number[i]),
            kinds: [...new Set(data.tracks.map((t) => t.kind))],
        };
    });
    check(spans.end === end, "the timeline ends with the run", [spans.end, end]);
    check(
        spans.path.join() === facts.path.critical_path.map((t) => t.task).join(),
        "the critical path is that of the report",
        spans.path,
    );
    const wrong = facts.transfers.filter(([number, start, to, bytes]) => {
        const i = spans.numbers.indexOf(number);
        return i < 0 || spans.start[i] !== start || spans.to[i] !== to || spans.bytes[i] !== bytes;
    });
    check(
        facts.transfers.length > 0 && wrong.length === 0,
        "starts, ends and bytes of transfers are those of the run",
        wrong,
    );
}

// The first screen: what the reports say, in four digits.
async function checkFirstScreen(page) {
    const {makespan_ps: end, throughput_per_s: rate} = facts.summary.summary;
    const shown = await page.evaluate(() => [...document.querySelectorAll(".figures .big")].map((e) => e.textContent));
    const units = {s: 1e12, ms: 1e9, "\u00b5s": 1e6, ns: 1e3};
    const [, number, unit] = /^([\d.]+)(\D+)$/.exec(shown[0]);
    check(Math.abs(number * units[unit] - end) <= 5e-4 * end, "the first figure is the makespan of one input", [shown, end]);
    check(Math.abs(Number.parseFloat(shown[1]) - rate) <= 5e-4 * rate, "the second one its rate", [shown, rate]);
    const bound = facts.bounds.bounds_total.makespan_ps;
    check(Math.abs(Number.parseFloat(shown[2]) - 100 * (end / bound - 1)) <= 0.051, "the third one the gap to the bound", [shown, bound]);
    const parts = facts.path.path_parts.filter((part) => part.time_ps > 0);
    const widths = await page.evaluate(() => [...document.querySelectorAll(".stack i")].map((e) => Number.parseFloat(e.style.width)));
    check(
        widths.length === parts.length && parts.every((part, i) => Math.abs(widths[i] - (100 * part.time_ps) / end) < 0.01),
        "the bar has the parts of the critical path",
        [widths, parts],
    );
}

// The sentence of a page, from made-up figures with known answers.
async function checkSentences(page) {
    const is = async (verdict, sentence, name) => {
        const got = await page.evaluate((v) => th.sentence({missed: [], classes: [], ...v}), verdict);
        check(got.replaceAll("\u00a0", " ") === sentence, `the sentence: ${name}`, got);
    };
    // 800 + 160 + 40 = 1000: 80, 16 and 4 %; the last is too small to be named.
    await is(
        {parts: {array: 800, memory: 160, link: 40}, classes: [["GPU", 1, 0.9, 0.9, 0.9], ["FPGA", 2, 0.7, 0.75, 0.8]], link: ["host_0", 0.19]},
        "The critical path is 80 % array and 16 % own DRAM; GPU and FPGA are balanced, at work 90 % and 75 % of the time; " +
            "the link host_0 is the busiest at 19 %.",
        "two classes in balance",
    );
    // 0.4 < 0.8 x 0.9; the busier class comes first whatever the order.
    await is(
        {parts: {contention: 7}, classes: [["FPGA", 2, 0.4, 0.4, 0.4], ["GPU", 1, 0.9, 0.9, 0.9]]},
        "The critical path is 100 % contention; GPU and FPGA are not balanced, at work 90 % and 40 % of the time.",
        "two classes out of balance",
    );
    // 0.4 = 0.8 x 0.5 is balanced to the last digit, 0.39 is not.
    const one = (least, n = 8) => ({parts: {array: 1, memory: 1}, classes: [["npu", n, least, 0.45, 0.5]]});
    await is(
        {...one(0.4), link: ["0_1", 0.004]},
        "The critical path is 50 % array and 50 % own DRAM; the 8 accelerators are balanced, at work 40 % to 50 % of the time; " +
            "the link 0_1 is the busiest at less than 1 %.",
        "one class in balance",
    );
    await is(
        one(0.39),
        "The critical path is 50 % array and 50 % own DRAM; the 8 accelerators are not balanced, at work 39 % to 50 % of the time.",
        "one class out of balance",
    );
    await is(one(0.5, 1), "The critical path is 50 % array and 50 % own DRAM; the accelerator works 50 % of the time.", "one accelerator");
    await is(
        {parts: {host: 1, collective: 4, wait: 5}, classes: [["a", 1, 0.5, 0.5, 0.5], ["b", 1, 0.1, 0.1, 0.1], ["c", 1, 0.6, 0.6, 0.6]]},
        "The critical path is 50 % waiting for arrivals, 40 % collectives and 10 % host; the 3 kinds of accelerators are not balanced, " +
            "from c at work 60 % of the time to b at work 10 %.",
        "three classes name the extremes",
    );
    await is(
        {parts: {host: 1}, mergedRanks: 8, classes: [["a", 1, 0.5, 0.5, 0.5]]},
        "The critical path is 100 % messages; one accelerator stands for the 8 of its stage.",
        "one accelerator for its stage",
    );
    await is({parts: {}, classes: [["npu", 8, 0, 0, 0]]}, "Nothing has ended yet.", "who does nothing is not balanced");
    await is(
        {parts: {array: 5, memory: 5, latency: 5, link: 5}},
        "The critical path is 25 % array, 25 % own DRAM and 25 % link latency.",
        "equal parts in their order, three at most",
    );
    // 569 / 3.9 s = 145.8 /s and 1 / 1.55 ms = 645.8 /s: 645.8 / 145.8 = 4.43.
    const once = {name: "one", verdict: {elapsed: 1.55e9, inputs: 1, batch: 1, samplesPerS: 645.8, parts: {array: 1}}},
        stream = {name: "many", verdict: {elapsed: 3.9e12, inputs: 569, batch: 1, samplesPerS: 145.8, parts: {array: 1}}};
    const told = await page.evaluate((two) => th.comparison(...two), [once, stream]);
    check(
        told === "one does 4.43 times as many samples per second as many, in runs of 1 and 569 samples.",
        "runs of unlike work are compared by their rates",
        told,
    );
    // The latest of them: 12.14 ms after its arrival is 2.64 ms past 9.5 ms.
    const late = ["radar", 9500000000, 2640000000],
        other = ["lidar", 1000000, 1000000];
    for (const [missed, more] of [
        [[late], ""],
        [[other, late], ", and 1 other model is late"],
        [[late, other, other], ", and 2 other models are late"],
    ])
        await is(
            {parts: {array: 1}, missed},
            `radar misses its deadline of 9.5 ms by 2.64 ms${more}; the critical path is 100 % array.`,
            `${missed.length} missed deadlines come first`,
        );
    // 3,000,000 / 2,000,000 ps; of the 1 us saved, DRAM has 0.9.
    const a = {name: "old", verdict: {elapsed: 3000000, parts: {array: 1000000, memory: 2000000}}},
        b = {name: "new", verdict: {elapsed: 2000000, parts: {array: 900000, memory: 1100000}}};
    for (const [runs, sentence] of [
        [[a, b], "new is 1.5 times as fast as old: it saves 1 \u00b5s, most of all in own DRAM (90 %)."],
        [[b, a], "new is 1.5 times as fast as old: it saves 1 \u00b5s, most of all in own DRAM (90 %)."],
        [[a, {...a, name: "same"}], "old and same take the same time to half a percent."],
    ]) {
        const got = await page.evaluate((two) => th.comparison(...two), runs);
        check(got === sentence, `two runs: ${sentence}`, got);
    }
}

// What the scripts of a page of the folder draw it from.
const documentOf = (name) =>
    JSON.parse(/<script type="application\/json" id="document">([^]*?)<\/script>/.exec(fs.readFileSync(path.join(folder, name), "utf8"))[1]);

// No node on another, all in the picture; switches that join islands lie beside them, not on them.
async function checkPictures(page) {
    for (const name of fs.readdirSync(folder).filter((file) => file.startsWith("picture_")).sort()) {
        const {topology} = documentOf(name);
        const [width, height, nodes] = await page.evaluate((t) => {
            const [box] = th.picture(t);
            const number = (e, key) => Number(e.getAttribute(key));
            const boxes = [...box.querySelectorAll("rect.box")].map((e) => [number(e, "x") + number(e, "width") / 2, number(e, "y") + number(e, "height") / 2]);
            const circles = [...box.querySelectorAll("circle")].map((e) => [number(e, "cx"), number(e, "cy")]);
            return [...box.querySelector("svg").getAttribute("viewBox").split(" ").slice(2).map(Number), [...boxes, ...circles]];
        }, topology);
        const closest = Math.min(...nodes.flatMap(([x, y], i) => nodes.slice(i + 1).map(([u, v]) => Math.hypot(x - u, y - v))));
        const out = nodes.filter(([x, y]) => !(x >= 20 && y >= 20 && x <= width - 20 && y <= height - 20));
        check(nodes.length === topology.nNodes && out.length === 0, `${name}: all nodes are in the picture`, out);
        check(closest > (name.includes("pod") ? 60 : 40), `${name}: no node is on another`, closest);
    }
}

// The names of nodes beside each other, of all kinds of systems.
async function checkNodeNames(browser) {
    for (const name of fs.readdirSync(folder).filter((file) => file.startsWith("picture_")).sort()) {
        const page = await open(browser, name, {viewport: DESK});
        const [switches, named, met] = await page.evaluate(() => {
            const words = [...document.querySelectorAll(".nodes text")].map((e) => [e.textContent, e.getBoundingClientRect()]);
            const meet = (a, b) => a.left < b.right && b.left < a.right && a.top + 3 < b.bottom - 3 && b.top + 3 < a.bottom - 3;
            return [
                document.querySelectorAll(".switch").length,
                document.querySelectorAll(".switch text").length,
                words.flatMap(([v, a], i) => words.slice(i + 1).filter(([, b]) => meet(a, b)).map(([w]) => `${v} on ${w}`)),
            ];
        });
        check(switches === named && met.length === 0, `${name}: switches have their names, and no name lies on another`, [switches, named, met]);
        await page.close();
    }
}

// A fat tree whose links are too many for names: one path of each shade.
async function checkMany(browser) {
    const page = await open(browser, "many.html", {viewport: DESK});
    const {topology} = documentOf("many.html");
    const moves = await page.evaluate(() => [...document.querySelectorAll(".links path")].map((e) => (e.getAttribute("d").match(/M/g) || []).length));
    check(
        topology.nLinks > 600 && moves.length === 9 && moves.reduce((sum, n) => sum + n, 0) === topology.nLinks,
        "many links are drawn, by shades",
        [topology.nLinks, moves],
    );
    check(page.complaints.length === 0, "no complaint about many links", page.complaints);
    await page.close();
}

async function checkWithoutScripts(browser) {
    const page = await browser.newPage({javaScriptEnabled: false});
    await page.goto(`file://${path.join(folder, "run.html")}`);
    const text = await page.locator("main").innerText();
    check(/JavaScript/.test(text), "without JavaScript a line says that it needs it", text);
    await page.close();
}

async function checkIds(page) {
    const twice = await page.evaluate(() => {
        const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
        return ids.filter((id, i) => ids.indexOf(id) !== i);
    });
    check(twice.length === 0, "no id stands twice", twice);
    const lost = await page.evaluate(() =>
        [...document.querySelectorAll("nav a")].filter((a) => !document.querySelector(`section${a.hash}`)).map((a) => a.hash),
    );
    check(lost.length === 0, "the contents lead to sections", lost);
}

// Texts with units of their own sort by what they are: 58 us before 1.5 ms before 1.2 s, and a dash last.
async function checkUnits(browser) {
    const page = await open(browser, "compare.html", {viewport: DESK});
    const sizes = {"\u00b5s": 1e-6, ms: 1e-3, s: 1};
    const texts = await page.evaluate(() => {
        const table = [...document.querySelectorAll("#differences table")].find((t) => [...t.rows].some((r) => /\d\u202fms$/.test(r.cells[3]?.textContent) && r.cells[0].textContent.includes("_")));
        table.tHead.rows[0].cells[3].querySelector("button").click();
        return [...table.tBodies[0].rows].map((row) => row.cells[3].textContent);
    });
    const values = texts.map((text) => /^([\d.]+)\u202f(\D+)$/.exec(text)).map(([, number, unit]) => number * sizes[unit]).filter((value) => value > 0);
    check(
        values.length > 5 && values.every((v, i) => i === 0 || v >= values[i - 1]),
        "texts with units of their own sort by their values",
        texts,
    );
    await page.close();
}

async function checkSorting(page) {
    const column = () =>
        page.evaluate(() =>
            [...document.getElementById("table-layer_figures").tBodies[0].rows].map((r) =>
                Number.parseFloat(r.cells[3].textContent),
            ),
        );
    const button = page.locator("#table-layer_figures thead button").nth(3);
    const before = await column();
    await button.click();
    const down = await column();
    check(
        down.join() === [...before].sort((a, b) => b - a).join(),
        "a table sorts by a column, from large to small",
        down,
    );
    await button.press("Enter");
    check((await column()).join() === [...before].sort((a, b) => a - b).join(), "and back, by keyboard");
    const sorted = await page.evaluate(() =>
        document.querySelector("#table-layer_figures th[aria-sort]").getAttribute("aria-sort"),
    );
    check(sorted === "ascending", "which is told to screen readers", sorted);
}

// ---- the timeline ----

async function checkTimeline(page) {
    const end = facts.summary.summary.makespan_ps;
    const rows = page.locator("#rows");
    await rows.scrollIntoViewIfNeeded();
    check(near(await lengthAfter(page, async () => {}), end), "the whole run is in view at first");
    const colors = await page.evaluate(() => {
        const canvas = document.querySelector("#rows canvas"),
            {width, height} = canvas;
        const pixels = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, width, height).data.buffer);
        return new Set(pixels).size;
    });
    check(colors > 8, "something is drawn", colors);
    const box = await rows.boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + 60);
    const scrolled = await page.evaluate(() => scrollY);
    const kept = await lengthAfter(page, () => page.mouse.wheel(0, -200));
    const isScrolled = await page
        .waitForFunction((y) => scrollY !== y, scrolled, {timeout: 3000})
        .then(
            () => true,
            () => false,
        );
    check(near(kept, end) && isScrolled, "the wheel scrolls the page until the timeline has the focus", [
        kept,
        isScrolled,
    ]);
    await rows.focus();
    await rows.scrollIntoViewIfNeeded();
    const box2 = await rows.boundingBox();
    await page.mouse.move(box2.x + box2.width / 2, box2.y + 60);
    const wheeled = await lengthAfter(page, () => page.mouse.wheel(0, -200));
    check(wheeled < 0.7 * end, "then it zooms", wheeled / end);
    const before = await viewOf(page);
    check((await lengthAfter(page, () => rows.press("ArrowUp"))) < wheeled, "the arrow up zooms in");
    check(near(await lengthAfter(page, () => rows.press("ArrowDown")), wheeled), "the arrow down zooms out");
    await rows.press("ArrowRight");
    await frame(page);
    const moved = await viewOf(page);
    check(
        moved.from > before.from && near(moved.to - moved.from, wheeled),
        "the arrow right moves on",
        moved,
    );
    await page.mouse.down();
    await page.mouse.move(box2.x + box2.width / 2 + 100, box2.y + 60, {steps: 4});
    await page.mouse.up();
    await frame(page);
    check((await viewOf(page)).from < moved.from, "dragging moves back");
    check(near(await lengthAfter(page, () => rows.press("Home")), end), "Home shows all of it");
    await page.click("#open-links"); // more rows than fit
    await rows.focus();
    const paged = [];
    for (const key of ["PageDown", "PageUp"]) {
        await rows.press(key);
        paged.push(await rows.evaluate((box) => box.scrollTop));
    }
    check(paged[0] > 0 && paged[1] === 0, "Page Down and Page Up go through the rows", paged);
    await page.click("#open-links");
    await rows.focus();
    await rows.press("]");
    await rows.press("]");
    const picked = await page.evaluate(() => document.getElementById("picked").textContent);
    check(
        /critical path yes/.test(picked),
        "] picks tasks of the critical path, and says what they are",
        picked,
    );
    check((await lengthAfter(page, () => rows.press("Enter"))) < 0.8 * end, "Enter zooms to it");
    await rows.press("Escape");
    check(
        (await page.evaluate(() => document.getElementById("picked").textContent)) === "",
        "Escape drops it",
    );
}

async function checkPointing(page) {
    await page.click("#fit");
    const box = await page.locator("#rows").boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + 28);
    const tip = await page.evaluate(() => !document.getElementById("tip").hidden && document.getElementById("tip").textContent);
    check(/critical path.*start.*duration/.test(tip), "a span under the mouse tells what it is", tip);
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press("Escape");
    check(await page.evaluate(() => document.getElementById("tip").hidden), "until Escape");
    await page.mouse.move(box.x + box.width / 2, box.y + 29);
    const isBack = await page.evaluate(() => !document.getElementById("tip").hidden);
    await page.mouse.move(5, 5);
    check(isBack && (await page.evaluate(() => document.getElementById("tip").hidden)), "or until the mouse leaves it");
    const length = await lengthAfter(page, () =>
        page.evaluate(() => {
            const rows = document.getElementById("rows"),
                {left, top, width} = rows.getBoundingClientRect();
            const touch = (type, pointerId, share) =>
                rows.dispatchEvent(
                    new PointerEvent(type, {
                        pointerId,
                        pointerType: "touch",
                        bubbles: true,
                        clientX: left + share * width,
                        clientY: top + 50,
                    }),
                );
            touch("pointerdown", 1, 0.5);
            touch("pointerdown", 2, 0.6);
            touch("pointermove", 2, 0.7);
            touch("pointermove", 2, 0.8);
            touch("pointerup", 1, 0.5);
            touch("pointerup", 2, 0.8);
        }),
    );
    check(near(length / facts.summary.summary.makespan_ps, 1 / 3), "two fingers zoom as far as they move apart", length);
    await page.evaluate(() => document.querySelectorAll(".links .leads")[30].dispatchEvent(new MouseEvent("click")));
    const state = await page.evaluate(() => [document.activeElement.id, document.getElementById("rows").scrollTop > 0]);
    check(state.join() === "rows,true", "a link of the picture leads to its row", state);
    await page.focus('.links .leads[tabindex="0"]');
    await page.keyboard.press("ArrowLeft");
    const last = await page.evaluate(() => [...document.querySelectorAll(".links .leads")].indexOf(document.activeElement));
    await page.keyboard.press("Enter");
    const after = await page.evaluate(() => [document.activeElement.id, document.querySelectorAll('.links .leads[tabindex="0"]').length]);
    check(last === 39 && after.join() === "rows,1", "by keys too: its links are one stop, arrows go round", [last, after]);
}

async function checkTools(page) {
    const image = () => page.evaluate(() => document.querySelector("#rows canvas").toDataURL());
    await page.click("#fit");
    await frame(page);
    const plain = await image();
    await page.click("#critical");
    await frame(page);
    const pressed = await page.evaluate(() =>
        document.getElementById("critical").getAttribute("aria-pressed"),
    );
    check(pressed === "true" && (await image()) !== plain, "the critical path can be made to stand out");
    await page.click("#critical");
    await page.fill("#find-layer", "no such layer");
    await frame(page);
    check((await image()) !== plain, "a search for layers dims the others");
    await page.fill("#find-layer", "");
    await frame(page);
    check((await image()) === plain, "and all is as it was");
    const end = facts.summary.summary.makespan_ps;
    const length = await lengthAfter(page, () => page.locator("#table-layer_figures .go").nth(2).click());
    check(length < 0.9 * end, "a layer of the table leads to its spans", length / end);
    check((await page.evaluate(() => document.activeElement.id)) === "rows", "where the keys then work");
    await page.click("#fit");
    const task = await lengthAfter(page, () => page.locator("#table-critical_path .go").nth(2).click());
    check(task < 0.9 * end, "so does a task of the critical path", task / end);
    await page.click("#fit");
    const other = await lengthAfter(page, () => page.locator("#table-contention .go").nth(1).click());
    check(other < 0.9 * end, "and who held it up", other / end);
}

// ---- links of a group ----

const foldsOf = (page) =>
    page.evaluate(() => [...document.querySelectorAll("#rows .fold")].map((e) => [e.textContent, e.getAttribute("aria-expanded"), e.getBoundingClientRect().top]));

const linkRows = (page) => page.evaluate(() => th.timeline.now.layout.rows.filter((r) => r.type === "spans" && r.track.kind === "link").length);

async function checkFolds(browser, colorScheme) {
    const page = await open(browser, "run.html", {viewport: DESK, colorScheme});
    const folds = await foldsOf(page);
    check(
        folds.map(([text]) => text.slice(2)).join("; ") === "island 0, mean of 12; island 1, mean of 12; host, mean of 16" &&
            folds.every(([, isOpen]) => isOpen === "false") && (await linkRows(page)) === 0,
        "links of an island or a host are one row, whose name says what it shows",
        folds,
    );
    await page.locator("#rows .fold").nth(1).click();
    const after = await foldsOf(page);
    check(
        after[1][1] === "true" && (await linkRows(page)) === 12 && after[2][2] - after[1][2] > folds[2][2] - folds[1][2] + 100,
        "a click opens it, and the rows below move",
        after,
    );
    await page.keyboard.press("Enter");
    check((await linkRows(page)) === 0, "Enter folds it again, where the focus stayed");
    await page.keyboard.press("Tab");
    await page.keyboard.press(" ");
    check((await linkRows(page)) === 16, "Tab goes to the next one, and space opens it");
    await page.keyboard.press(" ");
    // Two spans of 10 that share 4 cover 16; a drawn-together one is in use for half of what is left to it.
    const cover = await page.evaluate(() =>
        th.coverOf({n: 4, task: [0, 1, 2, 3], start: [0, 6, 8, 20], end: [10, 16, 12, 30], busy: [10, 10, 4, 5]}),
    );
    check(
        cover.start.join() === "0,10,20" && cover.end.join() === "10,16,30" && cover.busy.join() === "10,6,5",
        "what overlaps on a link is counted once",
        cover,
    );
    const loads = await page.evaluate(() => {
        const {data} = th.timeline;
        return data.tracks.filter((t) => t.kind === "link").map((t) => [t.name, th.coverOf(t).busy.reduce((a, b) => a + b, 0), data.end]);
    });
    const busy = new Map(facts.links.map((link) => [link.link, link.busy_ps]));
    const wrong = loads.filter(([name, sum, end]) => !(sum >= busy.get(name) && sum <= end));
    check(loads.length === 40 && wrong.length === 0, "a link is in use at least while it is busy, and at most all the time", wrong);
    // The mean of the drawn row: heights of its columns beside the sum over its links.
    const drawn = await page.evaluate(() => {
        const {data, now} = th.timeline;
        const row = now.layout.rows.find((r) => r.type === "fold"),
            canvas = document.querySelector("#rows canvas"),
            ratio = canvas.width / now.size.width;
        const {data: pixels} = canvas.getContext("2d").getImageData(now.gutter * ratio, (row.y + 20) * ratio, (now.size.width - now.gutter) * ratio, 19 * ratio);
        const rgb = getComputedStyle(document.documentElement).getPropertyValue("--transfer").trim();
        const want = [1, 3, 5].map((at) => Number.parseInt(rgb.slice(at, at + 2), 16));
        let n = 0;
        for (let i = 0; i < pixels.length; i += 4) n += want.every((v, k) => Math.abs(pixels[i + k] - v) < 8) ? 1 : 0;
        const sum = row.track.tracks.reduce((all, t) => all + th.coverOf(t).busy.reduce((a, b) => a + b, 0), 0);
        return [n / (pixels.length / 4), sum / row.track.tracks.length / data.end];
    });
    check(drawn[0] > 0.3 * drawn[1] && drawn[0] < 1.2 * drawn[1], `the row is filled by the mean of its links, ${colorScheme}`, drawn);
    await page.evaluate(() => document.querySelectorAll(".links .leads")[30].dispatchEvent(new MouseEvent("click")));
    check((await linkRows(page)) > 0, "a link of the picture opens the row that has it");
    check(page.complaints.length === 0, "no complaint about folded links", page.complaints);
    await page.close();
}

// Names in boxes fit; designs that differ stand below.
async function checkDesigns(browser, colorScheme) {
    const page = await open(browser, "unlike.html", {viewport: DESK, colorScheme});
    const {words, wide} = await page.evaluate(() => {
        const boxes = [...document.querySelectorAll(".nodes g")].filter((g) => g.querySelector("rect"));
        return {
            words: boxes.map((g) => g.querySelector("text.set").textContent).sort(),
            wide: boxes.map((g) => [g.querySelector("text").getBoundingClientRect(), g.querySelector("rect").getBoundingClientRect()])
                .filter(([text, box]) => text.left < box.left || text.right > box.right).length,
        };
    });
    check(words.join() === "array,array,tiled,tiled,v100", "the picture names the designs of unlike accelerators", words);
    check(wide === 0, `names fit into their boxes, ${colorScheme}`, wide);
    await page.close();
}

// ---- keyboard, themes, phone ----

async function checkKeyboard(browser) {
    const page = await open(browser, "run.html", {viewport: DESK});
    const stops = [],
        hidden = [];
    for (let i = 0; i < 26; i++) {
        await page.keyboard.press("Tab");
        const stop = await page.evaluate(() => {
            const e = document.activeElement,
                style = getComputedStyle(e);
            return {
                name: e.id || e.className || e.hash || e.tagName,
                isVisible: style.outlineStyle !== "none" && Number.parseFloat(style.outlineWidth) >= 1,
            };
        });
        stops.push(stop.name);
        if (!stop.isVisible) hidden.push(stop.name);
    }
    const order = ["skip", "theme", "#summary", "zoom-in", "critical", "find-layer", "rows"].map((name) =>
        stops.indexOf(name),
    );
    check(
        order.every((at, i) => at >= 0 && (i === 0 || at > order[i - 1])),
        "the order of the tab key is that of the page",
        stops,
    );
    check(hidden.length === 0, "where the focus is can be seen", hidden);
    const unnamed = await page.evaluate(() =>
        [...document.querySelectorAll("button, input, [tabindex], canvas[role], svg[role]")]
            .filter((e) => !(e.textContent.trim() || e.getAttribute("aria-label")))
            .map((e) => e.outerHTML.slice(0, 80)),
    );
    check(unnamed.length === 0, "everything that can be used has a name", unnamed);
    await page.close();
}

const backgroundOf = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);

async function checkThemes(browser) {
    const light = await open(browser, "run.html", {viewport: DESK, colorScheme: "light"});
    const dark = await open(browser, "run.html", {viewport: DESK, colorScheme: "dark"});
    const [day, night] = [await backgroundOf(light), await backgroundOf(dark)];
    check(day !== night, "dark where the system is dark", [day, night]);
    await light.click("#theme");
    await light.click("#theme");
    await dark.click("#theme");
    check(
        (await backgroundOf(light)) === night && (await backgroundOf(dark)) === day,
        "the switch goes against the system",
    );
    check(
        [...light.complaints, ...dark.complaints].length === 0,
        "no complaint in either theme",
        light.complaints,
    );
    await light.close();
    await dark.close();
}

async function checkPhone(browser, name) {
    const page = await open(browser, name, {viewport: PHONE, hasTouch: true, isMobile: true});
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    check(width <= PHONE.width, `${name}: no scrolling sideways on ${PHONE.width} pixels`, width);
    check(page.complaints.length === 0, `${name}: no complaint on a phone`, page.complaints);
    await page.close();
}

// ---- many spans ----

async function checkLarge(browser) {
    const size = fs.statSync(path.join(folder, "large.html")).size;
    const page = await open(browser, "large.html", {viewport: DESK});
    const drawn = await page.evaluate(() => th.timeline.data.drawn);
    check(drawn > 90000 && drawn <= 100000, "the large page has almost 100,000 spans", drawn);
    check(size < PAGE_BYTES, `it is smaller than ${PAGE_BYTES} bytes`, size);
    // Time of the page's thread, which does not depend on what else the machine does.
    const cdp = await page.context().newCDPSession(page);
    await cdp.send("Performance.enable", {timeDomain: "threadTicks"});
    const spent = async () =>
        1e3 * (await cdp.send("Performance.getMetrics")).metrics.find((m) => m.name === "TaskDuration").value;
    await page.evaluate(() => document.getElementById("rows").scrollIntoView());
    const rows = page.locator("#rows"),
        steps = [];
    await rows.focus();
    for (let i = 0; i < 30; i++) {
        const before = await spent();
        await rows.press(i < 15 ? "ArrowUp" : "ArrowDown");
        await frame(page);
        steps.push((await spent()) - before);
    }
    const sorted = [...steps].sort((a, b) => a - b),
        median = sorted[15];
    console.log(
        `# zoom steps: median ${median.toFixed(1)} ms, longest ${sorted[29].toFixed(1)} ms; ${drawn} spans in ${size} bytes`,
    );
    check(median <= STEP_MS, `a zoom step takes ${STEP_MS} ms at most`, steps);
    check(page.complaints.length === 0, "no complaint", page.complaints);
    await page.close();
}

// ---- two runs, and a study ----

async function checkCompare(browser) {
    const page = await open(browser, "compare.html", {viewport: DESK});
    const runs = await page.evaluate(() => {
        const {data} = th.timeline;
        return {
            names: data.runs.map((run) => run.name),
            end: data.end,
            ends: data.runs.map((run) => run.end),
            // The last end of a task of each run, and layers of its tasks by name.
            last: data.runs.map((_, k) =>
                Math.max(...data.tracks.filter((t) => t.run === k).map((t) => Math.max(0, ...t.end))),
            ),
            layers: data.runs.map((_, k) => {
                const own = data.tracks
                    .filter((t) => t.run === k && t.kind === "accel")
                    .flatMap((t) => [...t.task].map((task) => data.tasks.layer[task]));
                return [own.reduce((least, layer) => Math.min(least, layer), 1e9), own.reduce((most, layer) => Math.max(most, layer), 0)];
            }),
        };
    });
    check(runs.names.join() === "searched,streamed", "two runs are there", runs.names);
    check(
        near(runs.ends[0], facts.summary.summary.makespan_ps) && runs.end === Math.max(...runs.ends),
        "on one axis, which ends with the longer",
        runs,
    );
    check(runs.last.join() === runs.ends.join(), "each with its own tasks", runs);
    const [[a, b], [c, d]] = runs.layers;
    check(a >= 0 && b < 11 && c >= 11 && d < 22, "which have their own layers, eleven each", runs.layers);
    const widths = await page.evaluate(() =>
        [...document.querySelectorAll(".stack")].map((stack) =>
            [...stack.children].reduce((sum, part) => sum + part.getBoundingClientRect().width, 0),
        ),
    );
    check(
        Math.abs(widths[0] / widths[1] - runs.ends[0] / runs.ends[1]) < 0.02,
        "the bars are as long as the runs",
        [widths, runs.ends],
    );
    await page.locator("#rows").focus();
    await page.keyboard.press("]");
    const picked = await page.evaluate(() => document.getElementById("picked").textContent);
    check(/critical path of searched/.test(picked), "what is picked says of which run it is", picked);
    check(page.complaints.length === 0, "no complaint about two runs", page.complaints);
    await page.close();
}

// The front by hand: late 1, 2, 3 us of cost 30, 20, 10; both links of each are equal, the first is named.
async function checkStudy(browser) {
    const page = await open(browser, "study.html", {viewport: DESK});
    const names = () =>
        page.evaluate(() => [...document.querySelectorAll("svg.study .name")].map((e) => e.textContent).sort());
    check((await names()).join() === "#1,#5,#9", "the Pareto front is that by hand", await names());
    const visible = () =>
        page.evaluate(
            () => [...document.querySelector("#points table").tBodies[0].rows].filter((row) => !row.hidden).length,
        );
    check((await visible()) === 12, "the table has all points", await visible());
    await page.selectOption("#study-filters select >> nth=0", "2");
    await page.selectOption("#study-filters select >> nth=2", "100Gbps");
    check((await visible()) === 2, "filters leave the points that have these parameters", await visible());
    check((await names()).join() === "#6", "and the picture is of them", await names());
    await page.focus('svg.study .point[tabindex="0"]');
    await page.keyboard.press("Enter");
    const told = await page.evaluate(() => document.getElementById("study-point").innerText);
    check(
        /Point 6/.test(told) && /set a 2\nset b 0\nset link 100Gbps\ndict create late/.test(told),
        "a point tells its parameters and its commands, by keyboard",
        told,
    );
    await page.selectOption("#study-filters select >> nth=0", "");
    await page.click("#points tbody tr:nth-child(4) button");
    const other = await page.evaluate(() => document.querySelector("#study-point h3").textContent);
    check(other === "Point 4", "so does a row of the table", other);
    await page.selectOption("#study-picture select >> nth=1", "more");
    check(!(await names()).includes("#5") || (await names()).length !== 3, "more may be better", await names());
    check(page.complaints.length === 0, "no complaint about a study", page.complaints);
    await page.close();
}

// Of pages.html: from the study to the page of a run and back, and every part of it by keys alone.
async function checkRunPages(browser) {
    const page = await open(browser, "pages.html", {viewport: DESK});
    const links = await page.evaluate(() =>
        [...document.querySelector("#points table").tBodies[0].rows].map((row) => row.querySelector("a")?.getAttribute("href") || ""),
    );
    check(
        links.slice(0, 3).every((href, i) => new RegExp(`^pages/${i + 1}_[0-9a-f]{16}\\.html$`).test(href)) && links[3] === "",
        "rows of a study lead to the pages of their runs, where there is a run",
        links,
    );
    const stops = [],
        hidden = [];
    while (stops.length < 60) {
        await page.keyboard.press("Tab");
        const [name, isVisible] = await page.evaluate(() => {
            const e = document.activeElement,
                style = getComputedStyle(e);
            if (e === document.body) return [];
            return [e.dataset.row !== undefined ? "point" : `${e.tagName} ${e.closest("[id]")?.id}`, style.outlineStyle !== "none" || style.strokeWidth === "2px"];
        });
        if (!name) break;
        stops.push(name);
        if (!isVisible) hidden.push(name);
    }
    const order = ["SELECT study-picture", "point", "SELECT study-filters", "BUTTON table-points", "A table-points"].map((name) => stops.indexOf(name));
    check(order.every((at, i) => at >= 0 && (i === 0 || at > order[i - 1])), "Tab goes to choices, a point, filters, heads, rows and their pages", stops);
    check(hidden.length === 0 && stops.filter((name) => name === "point").length === 1, "the points are one stop, and the focus is seen on each", [hidden, stops]);
    const focused = () => page.evaluate(() => document.activeElement.getAttribute("aria-label"));
    await page.focus('svg.study [data-row][tabindex="0"]');
    const met = new Set([await focused()]);
    for (let i = 0; i < 3; i++) {
        await page.keyboard.press("ArrowRight");
        met.add(await focused());
    }
    check(met.size === 4, "arrows go to every point of the picture", [...met]);
    const first = await focused();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowLeft");
    check((await focused()) === first, "and back", await focused());
    await page.keyboard.press(" ");
    const told = () => page.evaluate(() => document.getElementById("study-point").innerText);
    check((await told()).startsWith(first.replace("point", "Point")) && (await focused()) === first, "space shows a point, and the focus stays", await told());
    await page.keyboard.press("Escape");
    check((await told()) === "" && (await focused()) === first, "Escape closes it", await told());
    await page.focus("#points tbody tr:nth-child(2) button");
    await page.keyboard.press("Enter");
    await page.focus("#study-point pre");
    await page.keyboard.press("Escape");
    check((await told()) === "" && (await focused()) === "point 2", "from within it too, and the focus goes to its point", await focused());
    await page.focus("#points thead button");
    await page.keyboard.press("Enter");
    await page.keyboard.press(" ");
    const sorted = () => page.evaluate(() => [...document.querySelector("#points table").tBodies[0].rows].map((row) => Number.parseInt(row.cells[0].textContent, 10)));
    check((await sorted()).join() === "1,2,3,4", "heads sort by Enter, and back by space", await sorted());
    await page.focus("#study-filters select");
    await page.keyboard.press("4");
    check((await page.evaluate(() => document.querySelector("#study-filters .range").textContent)) === "2 of 4 points", "a filter is set by a letter");
    await page.selectOption("#study-filters select >> nth=0", "");
    await page.selectOption("#study-picture select >> nth=5", "bytes");
    const names = await page.evaluate(() => [...document.querySelectorAll("svg.study .name")].map((e) => e.textContent).sort());
    check(names.length > 0 && names.every((name) => ["1kB", "4kB"].includes(name)), "points are labelled by a parameter", names);
    const legend = await page.evaluate(() => document.getElementById("study-legend").innerText);
    check(/^bytes:/.test(legend), "the legend says which parameter its colours are of", legend);
    check(page.complaints.length === 0, "no complaint about a study with pages", page.complaints);
    await page.click("#points tbody tr:nth-child(3) button");
    await page.click("#study-point a");
    await page.waitForFunction(() => th.timeline);
    const [title, moved] = await page.evaluate(() => [document.title, [...document.querySelectorAll("#figures dd")].map((e) => e.textContent)]);
    check(title === "p on s" && moved.includes("4\u202fkB"), "a chosen point leads to the page of its run", [title, moved]);
    await page.close();
}

// Words of the picture that end outside of it, or lie on each other: turned ones by their places, too.
const clashes = (page) =>
    page.evaluate(() => {
        const svg = document.querySelector("svg.study"),
            frame = svg.getBoundingClientRect();
        const words = [...svg.querySelectorAll("text")].map((e) => ({text: e.textContent, at: e.getBoundingClientRect()}));
        const isOut = ({at}) => at.left < frame.left || at.right > frame.right || at.top < frame.top || at.bottom > frame.bottom;
        // A box is higher than the letters in it.
        const meet = (a, b) =>
            a.left < b.right && b.left < a.right && a.top + 3 < b.bottom - 3 && b.top + 3 < a.bottom - 3;
        return [
            ...words.filter(isOut).map((w) => `${w.text} is cut`),
            ...words.flatMap((v, i) => words.slice(i + 1).filter((w) => meet(v.at, w.at)).map((w) => `${v.text} lies on ${w.text}`)),
        ];
    });

// The front of both has all 20 points of a ring; of the odd one the line of the front goes the other way.
async function checkPicture(browser, name, isFrontWhole, width, colorScheme) {
    const page = await open(browser, name, {viewport: {width, height: 900}, colorScheme});
    const what = `${name}, ${width} pixels, ${colorScheme}`;
    if (name === "odd.html") await page.selectOption("#study-picture select >> nth=3", "more");
    const wrong = await clashes(page);
    check(wrong.length === 0, `${what}: all words of the picture are whole, and apart`, wrong.slice(0, 5));
    const names = await page.evaluate(() => document.querySelectorAll("svg.study .name").length);
    check(isFrontWhole ? names === 20 : names > 5, `${what}: points of the front are named`, names);
    const ticks = await page.evaluate(() => document.querySelectorAll("svg.study .c:not(.title)").length);
    check(ticks > 1, `${what}: the axis has words`, ticks);
    await page.selectOption("#study-picture select >> nth=2", "a");
    await page.selectOption("#study-filters select >> nth=0", "7");
    const marks = await page.evaluate(() => [...document.querySelectorAll("svg.study .n")].map((e) => Number(e.textContent)));
    check(marks[0] === 0 && marks.at(-1) >= 7 && marks.at(-1) <= 8, `${what}: an axis of one value is from 0 to it`, marks);
    await page.selectOption("#study-filters select >> nth=0", "");
    await page.click("#points tbody tr:nth-child(3) td:first-child button");
    const told = await page.evaluate(() => document.getElementById("study-point").innerText);
    check(told.includes("1,000,002,000,000"), `${what}: its whole numbers are not rounded`, told);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    check(wide <= width, `${what}: a chosen point fits too`, wide);
    const faint = await page.evaluate(() => {
        const word = document.querySelector("svg.study .name");
        const light = (c) => c.match(/[\d.]+/g).slice(0, 3).reduce((sum, v) => sum + Number(v), 0) / 765;
        return Math.abs(light(getComputedStyle(word).fill) - light(getComputedStyle(document.body).backgroundColor));
    });
    check(faint > 0.5, `${what}: names stand out from the page`, faint);
    check(page.complaints.length === 0, `${what}: no complaint`, page.complaints);
    await page.close();
}

// ---- faults ----

async function checkFaults(page) {
    const faults = await page.evaluate(() =>
        th.timeline.data.tracks.flatMap(({name, faults}) =>
            faults.map(({what, from, to}) => [name, what, from, to].join(" ")),
        ),
    );
    check(
        faults.sort().join() === "0_1 down 20000000 60000000,3 slow 30000000 50000000",
        "faults stand in the rows of their objects",
        faults,
    );
    const legend = await page.evaluate(() => document.getElementById("legend").textContent);
    check(/down/.test(legend) && /slow/.test(legend), "the legend has their kinds", legend);
    const rows = await page.evaluate(() => document.getElementById("table-faults").tBodies[0].rows.length);
    check(rows === 2, "a table lists them", rows);
}

// ---- all of it ----

async function main() {
    const browser = await chromium.launch({
        executablePath: process.env.CHROMIUM,
        args: ["--no-sandbox"],
    });
    const page = await open(browser, "run.html", {viewport: DESK});
    await checkContent(page);
    await checkFirstScreen(page);
    await checkSentences(page);
    await checkPictures(page);
    await checkNodeNames(browser);
    await checkIds(page);
    await checkSorting(page);
    await checkTimeline(page);
    await checkPointing(page);
    await checkTools(page);
    check(page.complaints.length === 0, "no error in the console, no request", page.complaints);
    await page.close();
    for (const scheme of ["light", "dark"]) {
        await checkFolds(browser, scheme);
        await checkDesigns(browser, scheme);
    }
    await checkKeyboard(browser);
    await checkThemes(browser);
    await checkPhone(browser, "run.html");
    await checkPhone(browser, "unlike.html");
    await checkPhone(browser, "program.html");
    await checkPhone(browser, "compare.html");
    await checkPhone(browser, "study.html");
    for (const name of ["wide.html", "odd.html"])
        for (const [width, scheme] of [[400, "light"], [400, "dark"], [1400, "light"], [1400, "dark"]])
            await checkPicture(browser, name, width === 1400, width, scheme);
    await checkCompare(browser);
    await checkUnits(browser);
    await checkStudy(browser);
    await checkRunPages(browser);
    await checkMany(browser);
    await checkWithoutScripts(browser);
    const made = await open(browser, "program.html", {viewport: DESK});
    const title = await made.evaluate(() => [document.title, document.querySelector("h1").textContent]);
    check(
        title.every((text) => text === "<script>document.title=1</script>\"'\\&amp;\u2028\u2407 on ring8"),
        "markup in a name stays text, a control character is shown as a picture",
        title,
    );
    const collectives = await made.evaluate(() =>
        [...document.getElementById("table-collectives").tBodies[0].rows].map((row) => row.cells[1].textContent),
    );
    check(collectives.join() === "all_reduce", "the collectives of a hand-built program", collectives);
    await made.click("#table-collectives button.go");
    const shown = await made.evaluate(() => document.getElementById("picked").textContent);
    check(/all_reduce.*kind collective/.test(shown), "lead to their place in the timeline", shown);
    await checkFaults(made);
    check(made.complaints.length === 0, "no complaint about a hand-built program", made.complaints);
    await made.close();
    await checkLarge(browser);
    await browser.close();
}

main()
    .catch((e) => check(false, `html.js: ${e.stack}`))
    .finally(() => console.log(`1..${count}`));
