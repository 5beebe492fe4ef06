// SPDX-License-Identifier: GPL-3.0-or-later
// layout.js - where the nodes of a system stand in its picture, computed from its topology without a search, so that
// the same system always looks the same.
//
// Trees, fat trees and hosts with islands: levels, every switch in the middle above its leaves, and switches with the
// same leaves side by side. One dimension other than a line, or no dimensions: a circle. Dimensions: a grid, with every
// further pair of dimensions a grid of grids. Islands without levels: a circle of circles. Switches that join leaves
// across such levels, or two islands, are a row beside them. Nodes without a position after that (hosts, switches of a
// dimension) are placed in the middle of their neighbours, or next to it.

// Of each node {x, y}, down; neighbours of a row are 1 apart, no two nodes are closer than 0.7.
th.layout = function ({nodes, links, dims, isLine}) {
    const NEAREST = 0.7,
        APART = 1.25,
        TURN = 2 * Math.PI;
    const at = nodes.map(() => null);
    const accels = [...nodes.keys()].filter((i) => nodes[i].kind === "accel");
    const neighbours = nodes.map(() => []);
    for (const {from, to} of links) neighbours[from].push(to);

    const place = (node, x, y) => (at[node] = {x, y});

    // ---- levels ----

    // Levels with a root above all leaves; a dragonfly has none.
    const hasLevels = nodes.some((n) => n.level > 0 && n.nLeaves === accels.length);
    const areSiblings = (a, b) =>
        a && b && a.level === b.level && a.leafFirst === b.leafFirst && a.nLeaves === b.nLeaves;

    // The rank of a node among its siblings, which are placed in a row, and their number.
    function siblingsOf(node) {
        let first = node,
            last = node;
        while (areSiblings(nodes[first - 1], nodes[node])) first--;
        while (areSiblings(nodes[last + 1], nodes[node])) last++;
        return [node - first, last - first + 1];
    }

    function placeLevels() {
        const top = nodes.reduce((most, n) => Math.max(most, n.level), 1);
        const step = Math.min(6, Math.max(1.5, (0.35 * accels.length) / top));
        nodes.forEach((n, i) => {
            if (n.nLeaves === 0) return;
            const [number, count] = n.level > 0 ? siblingsOf(i) : [0, 1];
            place(i, n.leafFirst + (n.nLeaves * (number + 0.5)) / count - 0.5, (top - n.level) * step);
        });
    }

    // ---- circles and grids ----

    // The radius of a circle that n nodes just fit on.
    const radiusOf = (n, apart) => (n < 2 ? 0 : n === 2 ? apart / 2 : apart / 2 / Math.sin(TURN / 2 / n));

    function placeCircle(n) {
        const radius = radiusOf(n, APART);
        for (let i = 0; i < n; i++)
            place(i, radius * Math.sin((TURN * i) / n), -radius * Math.cos((TURN * i) / n));
    }

    const inDims = dims.reduce((n, size) => n * size, 1);

    function placeGrid() {
        for (let i = 0; i < inDims; i++) {
            const where = [0, 0],
                extent = [0, 0];
            let rest = i;
            dims.forEach((size, d) => {
                const axis = d % 2,
                    step = d < 2 ? APART : extent[axis] + 2;
                where[axis] += step * (rest % size);
                extent[axis] = step * (size - 1) + (d < 2 ? 0 : extent[axis]);
                rest = Math.floor(rest / size);
            });
            place(i, ...where);
        }
    }

    // ---- islands ----

    // Groups, if accelerators or switches form some, are numbered from 0; 1: all are of one.
    const groups = nodes.reduce((n, node) => (node.kind === "host" ? n : Math.max(n, node.group + 1)), 1);
    const nGroups = groups < nodes.length ? groups : 1;

    // Are accelerators of more than one island at the node's links?
    const joinsIslands = (node) =>
        new Set(neighbours[node].filter((to) => nodes[to].kind === "accel").map((to) => nodes[to].group)).size > 1;

    function placeIslands() {
        const members = Array.from({length: nGroups}, (_, g) => accels.filter((a) => nodes[a].group === g));
        const most = Math.max(1, ...members.map((m) => m.length)),
            small = radiusOf(most, APART),
            radius = radiusOf(nGroups, 2 * small + 2.5);
        const middles = members.map((_, g) => {
            const turn = nGroups === 2 ? (TURN * (g + 1)) / 2 : (TURN * g) / nGroups - TURN / 4;
            return {x: radius * Math.cos(turn), y: radius * Math.sin(turn)};
        });
        members.forEach((list, g) =>
            list.forEach((a, i) => {
                const turn = (TURN * (i + 0.5)) / list.length;
                place(a, middles[g].x + small * Math.sin(turn), middles[g].y - small * Math.cos(turn));
            }),
        );
        // A switch goes between the middle of its island and that of its leaves.
        nodes.forEach((n, i) => {
            if (n.level <= 0 || n.nLeaves === 0 || most <= 2 || joinsIslands(i)) return;
            const leaves = accels.slice(n.leafFirst, n.leafFirst + n.nLeaves).map((a) => at[a]);
            const mean = (axis) => leaves.reduce((sum, leaf) => sum + leaf[axis], 0) / leaves.length;
            const {x, y} = middles[n.group];
            place(i, 0.4 * x + 0.6 * mean("x"), 0.4 * y + 0.6 * mean("y"));
        });
    }

    // ---- remaining nodes ----

    // In the middle of the placed neighbours, or at the first free place on a spiral round it.
    function placeBetween(node) {
        const near = neighbours[node].map((to) => at[to]).filter(Boolean);
        const mean = (axis) => near.reduce((sum, p) => sum + p[axis], 0) / (near.length || 1);
        const x = mean("x"),
            y = mean("y");
        const isFree = (p) => !at.some((other) => other && Math.hypot(other.x - p.x, other.y - p.y) < NEAREST);
        for (let k = 0; at[node] === null; k++) {
            const distance = 0.22 * Math.sqrt(k);
            const p = {x: x + distance * Math.cos(0.9 * k), y: y + distance * Math.sin(0.9 * k)};
            if (isFree(p)) at[node] = p;
        }
    }

    // The switches that are left in a row over the width of all that is placed, at a distance below it (negative:
    // above).
    function placeRow(distance) {
        const placed = at.filter(Boolean),
            left = [...nodes.keys()].filter((i) => !at[i] && nodes[i].kind === "switch");
        const ends = (axis) => [Math.min, Math.max].map((f) => f(...placed.map((p) => p[axis])));
        const [x0, x1] = ends("x"),
            [y0, y1] = ends("y");
        const step = Math.max(APART, (x1 - x0) / (left.length || 1));
        const first = (x0 + x1) / 2 - (step * (left.length - 1)) / 2;
        left.forEach((i, number) => place(i, first + step * number, distance < 0 ? y0 + distance : y1 + distance));
    }

    if (hasLevels) {
        placeLevels();
        placeRow(2);
    } else if (dims.length > 1 || isLine) placeGrid();
    else if (dims.length === 1) placeCircle(inDims);
    else if (nGroups > 1) {
        placeIslands();
        nodes.forEach((_, i) => at[i] || joinsIslands(i) || placeBetween(i));
        if (nGroups === 2) placeRow(-2);
    } else placeCircle(accels.length);
    nodes.forEach((_, i) => at[i] || placeBetween(i));
    return at;
};
