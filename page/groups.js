// SPDX-License-Identifier: GPL-3.0-or-later
// groups.js - what the colours of the timeline stand for (models, sets, blocks of layers, types of layers), and short
// names of layers and rows.
(function () {
    const SEPARATORS = /[._/-]/;
    const PRODUCTS = ["fc", "matmul", "fused_attention", "lstm", "gru", "rnn"];
    const MOST_BLOCKS = 24; // more are not told apart, even where neighbours differ

    // The prefix that all names share, up to and with a separator; "" if there is none.
    th.sharedPrefix = function (names) {
        if (names.length < 2) return "";
        let prefix = names.reduce((shared, name) => {
            let n = 0;
            while (n < shared.length && shared[n] === name[n]) n++;
            return shared.slice(0, n);
        });
        while (prefix !== "" && !SEPARATORS.test(prefix[prefix.length - 1])) prefix = prefix.slice(0, -1);
        return names.includes(prefix) ? "" : prefix;
    };

    // The longest end of a name, from a separator on, that fits into this number of letters; else its beginning.
    th.fitName = function (name, most) {
        let rest = name;
        while (rest.length > most && SEPARATORS.test(rest)) rest = rest.slice(rest.search(SEPARATORS) + 1);
        if (rest.length <= most && rest !== "") return rest;
        return most < 3 ? "" : `${name.slice(0, most - 1)}\u2026`;
    };

    // The first parts of names, as many as give the most groups that are still few; the last part of a name tells its
    // layer, not its block. Names of one part are blocks of their own.
    function blocksOf(names) {
        const parts = names.map((name) => name.split(SEPARATORS));
        const deepest = Math.max(...parts.map((p) => p.length));
        const keys = (depth) => parts.map((p) => p.slice(0, Math.max(1, Math.min(depth, p.length - 1))).join("."));
        let best = keys(1);
        for (let depth = 2; depth < deepest; depth++) {
            const next = keys(depth);
            const isOne = new Set(best).size < 2;
            if (new Set(next).size <= MOST_BLOCKS || isOne) best = next;
        }
        return best;
    }

    // In this order, then as they come.
    const ORDER = ["forward", "backward", "weight gradients", "optimizer"];

    function numbered(id, title, keys) {
        const names = [...new Set([...ORDER.filter((name) => keys.includes(name)), ...keys])];
        const place = new Map(names.map((name, i) => [name, i]));
        return {id, title, names, of: Int32Array.from(keys, (key) => place.get(key))};
    }

    // The ways to colour layers, the most telling one first. Each: names of its groups, and the group of each layer.
    th.groupings = function (data) {
        const {layers} = data;
        const by = (place) => layers.map((l) => l[place]);
        if (data.groups === "purpose")
            return [numbered("pass", "pass", by(2)), numbered("batch", "micro-batch", by(3)), numbered("purpose", "purpose", by(1))];
        const typeOf = (type) =>
            type === "conv" ? "convolution" : PRODUCTS.includes(type) ? "matrix product, recurrent" : "other layers";
        const named = layers.map(([name]) => name.slice(data.layerPrefix.length));
        const all = [
            numbered("model", data.groups || "model", layers.map((l) => l[2])),
            numbered("set", "set of accelerators", layers.map((l) => `set ${l[3]}`)),
            numbered("block", "block of layers", named.length > 0 ? blocksOf(named) : []),
            numbered("type", "type of layer", layers.map((l) => typeOf(l[1]))),
        ];
        return all.filter((g) => g.names.length > 1 || g.id === "type");
    };
})();
