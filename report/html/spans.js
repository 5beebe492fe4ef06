// SPDX-License-Identifier: GPL-3.0-or-later
// spans.js - reads the block of spans (timeline.c says how it is written) into arrays, joins those of several runs, and
// parts the spans of a row into lanes, so that none covers another.
th.readRun = async function (block) {
    async function inflate(base64) {
        const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
        const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
        return new Uint8Array(await new Response(plain).arrayBuffer());
    }

    // A stream of numbers, seven bits a byte, the lowest first. Beyond 32 bits, so no bit operators.
    function streamOf(bytes) {
        let at = 0;
        function number() {
            let n = 0,
                factor = 1,
                byte;
            do {
                byte = bytes[at++];
                n += (byte & 127) * factor;
                factor *= 128;
            } while (byte > 127);
            return n;
        }
        function signed() {
            const n = number();
            return n % 2 === 0 ? n / 2 : -(n + 1) / 2;
        }
        return {number, signed};
    }

    const COMPUTE = 0,
        TRANSFER = 1,
        COLLECTIVE = 3;

    function readTasks(s, n) {
        const t = {
            n,
            kind: new Uint8Array(n),
            start: new Float64Array(n),
            end: new Float64Array(n),
            number: new Int32Array(n),
            layer: new Int32Array(n),
            input: new Int32Array(n),
            from: new Int32Array(n),
            to: new Int32Array(n),
            entry: new Int32Array(n),
            bytes: new Float64Array(n),
            isCritical: new Uint8Array(n),
        };
        let start = 0,
            number = 0,
            layer = 0,
            node = 0;
        for (let i = 0; i < n; i++) {
            t.kind[i] = s.number();
            t.start[i] = start += s.number();
            t.end[i] = start + s.number();
            t.number[i] = number += s.signed();
            t.layer[i] = layer += s.signed();
            t.input[i] = s.number();
            if (t.kind[i] === COMPUTE) {
                t.from[i] = node += s.signed();
                t.entry[i] = s.number();
            } else if (t.kind[i] === TRANSFER) {
                t.from[i] = s.number();
                t.to[i] = s.number();
                t.bytes[i] = s.number();
            } else if (t.kind[i] === COLLECTIVE) {
                t.entry[i] = s.number();
                t.bytes[i] = s.number();
            }
        }
        return t;
    }

    function readTrack(s, {kind, name, n, faults = []}, tasks) {
        const track = {
            kind,
            name,
            n,
            faults: faults.map(([what, from, to]) => ({what, from, to})),
            task: new Int32Array(n),
            count: new Int32Array(n),
            start: new Float64Array(n),
            end: new Float64Array(n),
            busy: new Float64Array(n),
        };
        let task = 0,
            start = 0;
        for (let i = 0; i < n; i++) {
            const code = s.number();
            const step = Math.floor(code / 4);
            task += code & 2 ? -step : step;
            track.task[i] = task;
            if (code & 1) {
                start += s.number();
                track.end[i] = start + s.number();
                track.count[i] = s.number();
                track.busy[i] = s.number();
            } else {
                start = tasks.start[task];
                track.end[i] = tasks.end[task];
                track.count[i] = 1;
                track.busy[i] = track.end[i] - start;
            }
            track.start[i] = start;
        }
        return track;
    }

    const stream = streamOf(await inflate(block.stream));
    const tasks = readTasks(stream, block.tasks);
    // An accelerator that idles is worth a row where others compute; a link that only collectives took is not, for
    // their messages are not among the spans, unless it had a fault.
    const computes = block.costs.length > 0;
    const tracks = block.tracks
        .map((track) => readTrack(stream, track, tasks))
        .filter((track) => track.n > 0 || track.faults.length > 0 || track.kind === "path" || (computes && track.kind === "accel"));
    for (const track of tracks)
        if (track.kind === "path") for (const task of track.task) tasks.isCritical[task] = 1;
    return {...block, tasks, tracks, COMPUTE, TRANSFER, COLLECTIVE};
};

// Several runs as one: lists one behind the other, and what refers to them moved by the lengths of those before.
th.joinRuns = function (runs) {
    const sum = (of) => runs.reduce((n, run) => n + of(run), 0);
    const all = (of) => [].concat(...runs.map(of));
    const before = (k, of) => runs.slice(0, k).reduce((n, run) => n + of(run), 0);

    function joinField(field, type, shift) {
        const joined = new type(sum((run) => run.tasks.n));
        runs.forEach((run, k) => {
            const by = shift ? before(k, (r) => shift(r)) : 0;
            const at = before(k, (r) => r.tasks.n);
            const isShifted = (i) => run.tasks[field][i] >= 0;
            for (let i = 0; i < run.tasks.n; i++)
                joined[at + i] = run.tasks[field][i] + (isShifted(i) ? by : 0);
        });
        return joined;
    }

    const tasks = {
        n: sum((run) => run.tasks.n),
        kind: joinField("kind", Uint8Array),
        start: joinField("start", Float64Array),
        end: joinField("end", Float64Array),
        number: joinField("number", Int32Array),
        layer: joinField("layer", Int32Array, (r) => r.layers.length),
        input: joinField("input", Int32Array),
        from: joinField("from", Int32Array, (r) => r.nodes.length),
        to: joinField("to", Int32Array, (r) => r.nodes.length),
        entry: joinField("entry", Int32Array),
        bytes: joinField("bytes", Float64Array),
        isCritical: joinField("isCritical", Uint8Array),
    };
    // Computes name a cost, collectives a collective.
    runs.forEach((run, k) => {
        const at = before(k, (r) => r.tasks.n);
        for (let i = 0; i < run.tasks.n; i++)
            if (run.tasks.kind[i] === run.COMPUTE) tasks.entry[at + i] += before(k, (r) => r.costs.length);
            else if (run.tasks.kind[i] === run.COLLECTIVE)
                tasks.entry[at + i] += before(k, (r) => r.collectives.length);
    });
    const tracks = all((run) => run.tracks);
    runs.forEach((run, k) => {
        const at = before(k, (r) => r.tasks.n);
        for (const track of run.tracks) {
            track.run = k;
            track.task = track.task.map((task) => task + at);
        }
    });
    const namesOf = (kind) => tracks.filter((t) => t.kind === kind).map((t) => t.name);
    const layers = all((run) =>
        run.layers.map(([name, type, model, set]) => [name, type, run.models[model], set]),
    );
    return {
        ...runs[0],
        runs: runs.map(({name, end}) => ({name, end})),
        end: Math.max(...runs.map((run) => run.end)),
        resolution: Math.max(...runs.map((run) => run.resolution)),
        spans: sum((run) => run.spans),
        drawn: sum((run) => run.drawn),
        hidden: sum((run) => run.hidden),
        nodes: all((run) => run.nodes),
        collectives: all((run) => run.collectives),
        costs: all((run) => run.costs),
        layers,
        tasks,
        tracks,
        layerPrefix: th.sharedPrefix([...new Set(layers.map(([name]) => name))]),
        rowPrefix: {accel: th.sharedPrefix(namesOf("accel")), link: th.sharedPrefix(namesOf("link"))},
    };
};

th.readSpans = async (text) =>
    th.joinRuns(
        await Promise.all(JSON.parse(text).map(async ({name, run}) => ({...(await th.readRun(run)), name}))),
    );

// Spans of a row, by start, each to the first lane that is free; where that would be too many lanes, to the one
// that is free soonest. Returns lists of places in the row.
th.lanesOf = function (track, most) {
    const ends = [],
        lanes = [];
    for (let i = 0; i < track.n; i++) {
        let lane = ends.findIndex((end) => end <= track.start[i]);
        if (lane < 0 && ends.length < most) {
            lane = ends.length;
            lanes.push([]);
        } else if (lane < 0) {
            lane = ends.indexOf(Math.min(...ends));
        }
        ends[lane] = Math.max(ends[lane] || 0, track.end[i]);
        lanes[lane].push(i);
    }
    return lanes.map((list) => ({
        spans: Int32Array.from(list),
        longest: list.reduce((longest, i) => Math.max(longest, track.end[i] - track.start[i]), 0),
    }));
};

// The first place in a lane whose span starts at a time or later.
th.firstFrom = function (lane, track, time) {
    let low = 0,
        high = lane.spans.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (track.start[lane.spans[middle]] < time) low = middle + 1;
        else high = middle;
    }
    return low;
};
