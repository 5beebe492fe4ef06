// SPDX-License-Identifier: GPL-3.0-or-later
// topology.js - the picture of a system: nodes at the positions of layout.js, links in the colour of their load. A
// cable is two lines, one per direction, each on the right; a line that would cross a node is drawn around it. With
// many links the picture has no names of links, and the links of one colour are one path.

// The elements of a section, for the document's topology.
// mergedRanks: as in a verdict.
th.picture = function (topology, {mergedRanks = 0} = {}) {
    const CELL = 64, // between two neighbours
        MARGIN = 56, // of a bow from the nodes
        RADIUS = 0.27 * CELL, // of a node
        NAMED_MOST = 256, // nodes of a picture in which switches have names
        BESIDE = 0.05 * CELL; // of a line from the middle of its cable
    // The shades --heat-1 .. --heat-8 end at these loads: logarithmic below 10 %, so that light traffic is told apart,
    // and in quarters up to 100 %. --heat-0: nothing was carried.
    const SHADE_ENDS = [0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1];

    if (!topology.nodes) {
        const what = `A picture of ${topology.nNodes} nodes and ${topology.nLinks} links`;
        return [th.make("p", {class: "note"}, `${what} would show nothing; the table of links has their loads.`)];
    }
    const named = (names) => (values) => Object.fromEntries(names.map((name, i) => [name, values[i]]));
    const nodes = topology.nodes.map(
        named(["kind", "name", "level", "leafFirst", "nLeaves", "group", "busy", "set", "design"]),
    );
    const links = topology.links.map(named(["from", "to", "load", "name", "bytes", "rate"]));
    const places = th.layout({...topology, nodes, links});
    const ends = (axis) => [Math.min, Math.max].map((f) => places.reduce((end, p) => f(end, p[axis]), places[0][axis]));
    const [left, right] = ends("x"),
        [top, bottom] = ends("y");
    const at = places.map(({x, y}) => ({x: (x - left) * CELL + MARGIN, y: (y - top) * CELL + MARGIN}));
    const width = ((right - left) * CELL + 2 * MARGIN).toFixed(0),
        height = ((bottom - top) * CELL + 2 * MARGIN).toFixed(0);

    // ---- links ----

    // Does the straight line between two nodes come too close to a third one?
    function isBlocked(a, b) {
        const from = at[a],
            dx = at[b].x - from.x,
            dy = at[b].y - from.y;
        return at.some(({x, y}, i) => {
            const t = ((x - from.x) * dx + (y - from.y) * dy) / (dx * dx + dy * dy);
            if (i === a || i === b || t <= 0 || t >= 1) return false;
            return Math.hypot(from.x + t * dx - x, from.y + t * dy - y) < 1.2 * RADIUS;
        });
    }

    // "M1 2L3 4", or with a bow "M1 2Q5 6 3 4"; number: among the links from the one node to the other.
    function pathOf(a, b, number) {
        const length = Math.hypot(at[b].x - at[a].x, at[b].y - at[a].y),
            ux = (at[b].x - at[a].x) / length,
            uy = (at[b].y - at[a].y) / length,
            aside = (1 + number) * BESIDE;
        const x0 = at[a].x + ux * RADIUS - uy * aside,
            y0 = at[a].y + uy * RADIUS + ux * aside,
            x1 = at[b].x - ux * RADIUS - uy * aside,
            y1 = at[b].y - uy * RADIUS + ux * aside;
        const words = (...numbers) => numbers.map((n) => n.toFixed(0)).join(" ");
        if (!isBlocked(a, b)) return `M${words(x0, y0)}L${words(x1, y1)}`;
        // Both directions on one side, next to each other.
        const bow = (a < b ? 1 : -1) * (Math.min(0.3 * length, 1.4 * CELL) + 2 * aside);
        return `M${words(x0, y0)}Q${words((x0 + x1) / 2 + uy * bow, (y0 + y1) / 2 - ux * bow, x1, y1)}`;
    }

    const shadeOf = ({load}) =>
        load > 0 ? Math.min(SHADE_ENDS.length, 1 + SHADE_ENDS.filter((end) => load > end).length) : 0;

    // The busiest links last, so that they are on top.
    function drawLinks() {
        const before = new Map(); // links of the same nodes and direction so far
        const paths = links.map(({from, to}) => {
            const key = `${from} ${to}`,
                number = before.get(key) || 0;
            before.set(key, number + 1);
            return pathOf(from, to, number);
        });
        const drawn = th.shape("g", {class: "links"});
        for (let shade = 0; shade <= SHADE_ENDS.length; shade++) {
            const own = [...links.keys()].filter((i) => shadeOf(links[i]) === shade);
            const line = (d, ...children) => drawn.append(th.shape("path", {class: `h${shade}`, d}, ...children));
            if (links.length > 0 && links[0].name === undefined) line(own.map((i) => paths[i]).join(""));
            else
                for (const i of own) {
                    const {name, load, bytes, rate} = links[i];
                    const carried = `load ${(100 * load).toFixed(2)} %, ${th.bytes(bytes)} at ${th.rate(rate)}`;
                    line(paths[i], th.shape("title", {}, `link/${name}: ${carried}`));
                    drawn.lastChild.dataset.link = name;
                }
        }
        return drawn;
    }

    // ---- nodes ----

    const word = (x, y, text, attributes = {}) =>
        th.shape("text", {x: x.toFixed(0), y: y.toFixed(0), ...attributes}, text);

    // A name within its node: in smaller letters where it is long, and shortened where they would be too small.
    function nodeName(x, y, name, most, room) {
        const LETTER = 0.68; // its width, of the size of a wide one
        const size = Math.max(8, Math.min(most, room / (LETTER * name.length)));
        return word(x, y + 0.35 * size, th.fitName(name, Math.floor(room / (LETTER * size))), {style: `font-size: ${size.toFixed(1)}px`});
    }

    const designs = [...new Set(nodes.filter((n) => n.design).map((n) => n.design))];

    // An accelerator is a box, filled by its busy share; below it its set and its design, where there are several.
    function drawAccel({name, busy, set, design}, {x, y}) {
        const LETTERS = 11; // of a design, between neighbours
        const below = [...(set >= 0 ? [`set ${set}`] : []), ...(designs.length > 1 ? [th.fitName(design, LETTERS)] : [])];
        const box = (kind, above) =>
            th.shape("rect", {
                class: kind,
                x: (x - RADIUS).toFixed(0),
                y: (y - RADIUS + above).toFixed(1),
                width: (2 * RADIUS).toFixed(0),
                height: (2 * RADIUS - above).toFixed(1),
                rx: 4,
            });
        return th.shape(
            "g",
            {},
            th.shape("title", {}, `accel/${name}: ${design}, busy ${(100 * busy).toFixed(2)} %`),
            box("box", 0),
            box("fill", 2 * RADIUS * (1 - busy)),
            nodeName(x, y, name, 14, 2 * RADIUS - 2),
            ...below.map((text, i) => word(x, y + RADIUS + 11 + 10 * i, text, {class: "set"})),
        );
    }

    function drawOther({kind, name}, {x, y}) {
        const isHost = kind === "host",
            r = RADIUS * (isHost ? 1.15 : 0.7);
        return th.shape(
            "g",
            {class: kind},
            th.shape("title", {}, `node/${name}`),
            th.shape("circle", {cx: x.toFixed(0), cy: y.toFixed(0), r: r.toFixed(1)}),
            ...(isHost ? [nodeName(x, y, name, 11, 2 * r - 4)] : []),
            ...(!isHost && nodes.length <= NAMED_MOST ? [word(x, y + r + 10, th.fitName(name, 7), {class: "set"})] : []),
        );
    }

    // ---- the picture ----

    function legend() {
        const item = (className, text, attributes = {}) =>
            th.make("li", attributes, th.make("i", {class: className}), text);
        const busy = "part of the time that an accelerator was busy",
            isBusy = nodes.some((n) => n.busy > 0);
        return th.make(
            "ol",
            {class: "heat", "aria-label": "Colours of links, by their load"},
            th.make("li", {class: "what"}, "Load of links"),
            item("h0", "0"),
            ...SHADE_ENDS.map((end, i) => item(`h${i + 1}`, `${i === 0 ? "to " : ""}${th.round(100 * end, 3)}\u202f%`)),
            ...(isBusy ? [item("busy", ` ${busy}`, {class: "what"})] : []),
            ...(designs.length === 1 ? [th.make("li", {}, `Design: ${designs[0]}`)] : []),
        );
    }
    const merged = `One accelerator stands for the ${mergedRanks} of its stage, and messages are timed alone: the others and the links show no load.`;

    const {name, nAccels, nLinks} = topology,
        label = `${name}: ${nAccels} accelerators, ${nLinks} links, coloured by their load`;
    const svg = th.shape(
        "svg",
        {viewBox: `0 0 ${width} ${height}`, style: `--w:${width}`, role: "group", "aria-label": label},
        drawLinks(),
        th.shape("g", {class: "nodes"}, ...nodes.map((n, i) => (n.kind === "accel" ? drawAccel : drawOther)(n, at[i]))),
    );
    const region = {class: "picture", role: "region", tabindex: "0", "aria-label": "Picture of the system"};
    return [th.make("div", region, svg), legend(), ...(mergedRanks > 0 ? [th.make("p", {class: "note"}, merged)] : [])];
};
