// SPDX-License-Identifier: GPL-3.0-or-later
// page.js - elements, how texts and numbers are written, and the theme. Every file after it uses th.
"use strict";
const th = {};

th.find = (id) => document.getElementById(id);

// A text as it is shown: no line ends between a number and its percent sign, and control characters have pictures.
th.shown = (text) =>
    text
        .replaceAll(" %", "\u00a0%")
        .replace(/[\0-\x08\x0b-\x1f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)))
        .replace(/[\x7f-\x9f]/g, "\ufffd");

function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
    const isVerbatim = element.tagName === "PRE";
    element.append(...children.map((c) => (typeof c === "string" && !isVerbatim ? th.shown(c) : c)));
    return element;
}

// An element with attributes and children; texts are texts, never markup.
th.make = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
// The same in a drawing.
th.shape = (tag, attributes, ...children) =>
    fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

// ---- numbers ----

// From the largest, by the unit that fields of -format json have at the end of their names.
const UNITS = {
    _ps: [["s", 1e12], ["ms", 1e9], ["\u00b5s", 1e6], ["ns", 1e3], ["ps", 1]],
    _bytes: [["TB", 1e12], ["GB", 1e9], ["MB", 1e6], ["kB", 1e3], ["B", 1]],
    _bits_per_s: [["Tbps", 1e12], ["Gbps", 1e9], ["Mbps", 1e6], ["kbps", 1e3], ["bps", 1]],
    _percent: [["%", 1]],
    _per_s: [["T/s", 1e12], ["G/s", 1e9], ["M/s", 1e6], ["1/s", 1]],
    _j: [["J", 1], ["mJ", 1e-3], ["\u00b5J", 1e-6], ["nJ", 1e-9], ["pJ", 1e-12]],
};

// The largest unit that is not more than a value, and its size.
th.unitOf = function (suffix, value) {
    const units = UNITS[suffix] || [["", 1]];
    return units.find(([, size]) => value >= size) || units[units.length - 1];
};

const THIN = "\u202f";

// Digits before the point in threes.
th.digits = function (number) {
    const [whole, ...rest] = number.split(".");
    return [whole.replace(/\B(?=(\d{3})+$)/g, THIN), ...rest].join(".");
};

// Reports write "us", as they are ASCII.
th.unit = (unit) => unit.replace(/^u(?=[sJ]$)/, "\u00b5");

const SIZES = new Map([["/s", 1], ["k/s", 1e3], ["kJ", 1e3], ["MJ", 1e6], ["", 1], ...Object.values(UNITS).flat()]);

// A text that is a number, with a unit or without: its value in the least unit, and how it is shown. null: another text.
th.amount = function (text) {
    const [, number, own] = /^([-+]?\d+(?:\.\d+)?(?:e[-+]\d+)?)\u202f?(\D*)$/.exec(text) || [];
    const unit = own === undefined ? "" : th.unit(own);
    return number && SIZES.has(unit) ? {value: number * SIZES.get(unit), shown: unit ? `${number}${THIN}${unit}` : number} : null;
};

// "1.23ms" of a report with its unit apart.
th.value = function (text, kind) {
    if (kind === "count" && /^[-+.\d]+$/.test(text)) return th.digits(text);
    const [, number, unit] = (kind === "number" && /^([-+.\d]+)([a-z].*)$/i.exec(text)) || [];
    return number ? `${number}${THIN}${th.unit(unit)}` : text;
};

// Four significant digits, and the unit.
th.four = function (suffix, value) {
    const [unit, size] = th.unitOf(suffix, value),
        shown = value / size;
    const before = shown >= 1 ? Math.floor(Math.log10(shown)) + 1 : 1;
    return [th.digits(shown.toFixed(Math.max(0, 4 - before))), unit];
};

th.round = (value, digits) => Number(value.toPrecision(digits));

function withUnit(value, [unit, size], digits = 6) {
    return `${th.round(value / size, digits)} ${unit}`;
}

th.time = (ps) => (ps === 0 ? "0" : withUnit(ps, th.unitOf("_ps", ps)));
th.bytes = (n) => withUnit(n, th.unitOf("_bytes", n));
th.rate = (bitsPerSecond) => withUnit(bitsPerSecond, th.unitOf("_bits_per_s", bitsPerSecond), 4);
th.percent = (share) => `${(100 * share).toFixed(1)} %`;

// ---- keys ----

// Many elements of a box that the Tab key reaches as one, where tabindex is 0: arrows go on from there, in the order of
// data-at, Enter and space click.
th.rove = function (box, selector) {
    const ways = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1};
    box.addEventListener("keydown", (e) => {
        const here = e.target.closest(selector);
        if (!here || e.ctrlKey || e.metaKey || e.altKey || !(ways[e.key] || e.key === "Enter" || e.key === " ")) return;
        e.preventDefault();
        if (!ways[e.key]) return here.dispatchEvent(new MouseEvent("click", {bubbles: true}));
        const all = [...box.querySelectorAll(selector)].sort((a, b) => a.dataset.at - b.dataset.at);
        const next = all[(all.indexOf(here) + ways[e.key] + all.length) % all.length];
        for (const one of all) one.setAttribute("tabindex", one === next ? "0" : "-1");
        return next.focus();
    });
};

// ---- theme ----

// The switch goes round: as the system has it, light, dark. What draws by itself listens for "theme".
(function () {
    const button = th.find("theme");
    const names = ["system", "light", "dark"];
    let at = 0;
    button.hidden = false;
    button.addEventListener("click", () => {
        at = (at + 1) % names.length;
        if (at === 0) document.documentElement.removeAttribute("data-theme");
        else document.documentElement.dataset.theme = names[at];
        button.textContent = `Theme: ${names[at]}`;
        document.dispatchEvent(new Event("theme"));
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
        document.dispatchEvent(new Event("theme")),
    );
})();
