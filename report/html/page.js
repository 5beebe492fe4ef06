// SPDX-License-Identifier: GPL-3.0-or-later
// page.js - theme, contents, and how numbers are written. Every file after it uses th.
"use strict";
const th = {};

th.find = (id) => document.getElementById(id);

// An element with attributes and children; texts are texts, never markup.
th.make = function (tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
    element.append(...children);
    return element;
};

// ---- numbers ----

const TIME_UNITS = [
    ["s", 1e12],
    ["ms", 1e9],
    ["\u00b5s", 1e6],
    ["ns", 1e3],
    ["ps", 1],
];

th.timeUnit = (ps) => TIME_UNITS.find(([, size]) => ps >= size) || TIME_UNITS[4];

function withUnit(value, [unit, size]) {
    return `${Number((value / size).toPrecision(6))} ${unit}`;
}

th.time = (ps) => (ps === 0 ? "0" : withUnit(ps, th.timeUnit(ps)));

th.bytes = function (n) {
    const units = [
        ["TB", 1e12],
        ["GB", 1e9],
        ["MB", 1e6],
        ["kB", 1e3],
        ["B", 1],
    ];
    return withUnit(n, units.find(([, size]) => n >= size) || units[4]);
};

th.rate = function (bitsPerSecond) {
    const units = [
        ["Tbit/s", 1e12],
        ["Gbit/s", 1e9],
        ["Mbit/s", 1e6],
        ["kbit/s", 1e3],
        ["bit/s", 1],
    ];
    const unit = units.find(([, size]) => bitsPerSecond >= size) || units[4];
    return `${Number((bitsPerSecond / unit[1]).toPrecision(4))} ${unit[0]}`;
};

th.percent = (share) => `${(100 * share).toFixed(1)} %`;

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
