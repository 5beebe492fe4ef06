// SPDX-License-Identifier: GPL-3.0-or-later
// spans.js - reads the spans of a timeline (timeline.c says how they are written) into arrays, joins those of several
// runs, and parts the spans of a row into lanes, so that none covers another.
const TASK_FIELDS = {
    kind: Uint8Array,
    start: Float64Array,
    end: Float64Array, // in the stream, the length
    number: Int32Array,
    layer: Int32Array,
    input: Int32Array,
    from: Int32Array,
    to: Int32Array,
    entry: Int32Array,
    bytes: Float64Array,
    // Of a step of training: the micro-batch, and layer and pass as one number (th.placeOf).
    microBatch: Int32Array,
    place: Int32Array,
    // How long each engine works.
    array: Float64Array,
    inputs: Float64Array,
    weights: Float64Array,
    sums: Float64Array,
    outputs: Float64Array,
};

// The pass and the layer of a task of a step of training; none where it is for the step as a whole.
th.placeOf = function ({microBatch, place}, task) {
    const PASSES = ["forward", "backward", "weight gradients"];
    const layer = Math.floor(place[task] / 4) - 2;
    if (microBatch[task] < 0) return null;
    return {pass: PASSES[place[task] % 4], layer: ["output", "embedding"][layer + 2] || String(layer)};
};

// What tasks of a step are for, pass of a micro-batch by pass, in place of layers: "B3", "tensor B3". Numbers the tasks
// by it. Each: name, purpose, what its colour tells of the pass and of the micro-batch.
function passesOf(purposes, tasks) {
    const TURNS = 7, // colours of micro-batches
        layers = [],
        numbers = new Map(),
        most = tasks.microBatch.reduce((a, b) => Math.max(a, b), 0);
    for (let i = 0; i < tasks.n; i++) {
        const purpose = purposes[tasks.layer[i]],
            at = th.placeOf(tasks, i),
            batch = tasks.microBatch[i];
        const short = at ? `${at.pass[0].toUpperCase()}${batch}` : "";
        const computes = purpose === "compute";
        const name = computes ? short : `${purpose}${short && " "}${short}`;
        if (!numbers.has(name)) {
            numbers.set(name, layers.length);
            const pass = computes ? at.pass : purpose === "optimizer" ? purpose : `${purpose} messages`;
            const turn = at ? `micro-batch ${batch % TURNS}${most < TURNS ? "" : ` + ${TURNS} n`}` : "whole step";
            layers.push([name, purpose, pass, turn]);
        }
        tasks.layer[i] = numbers.get(name);
    }
    return layers;
}

th.readRun = async function (block) {
    async function inflate(base64) {
        const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
        const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
        return new Uint8Array(await new Response(plain).arrayBuffer());
    }

    // Columns of numbers, seven bits a byte, the lowest first, signs in the lowest bit, each the difference from the
    // one before. Beyond 32 bits, so no bit operators.
    function columnsOf(bytes) {
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
            return n % 2 === 0 ? n / 2 : -(n + 1) / 2;
        }
        return function (type, n) {
            const column = new type(n);
            for (let i = 0, value = 0; i < n; i++) column[i] = value += number();
            return column;
        };
    }

    const COMPUTE = 0,
        TRANSFER = 1,
        COLLECTIVE = 3;

    // The order of columns is that of the stream.
    function readTasks(column, n) {
        const t = {n, isCritical: new Uint8Array(n)};
        for (const [field, type] of Object.entries(TASK_FIELDS)) t[field] = column(type, n);
        t.end.forEach((length, i) => (t.end[i] = t.start[i] + length));
        return t;
    }

    function readTrack(column, {kind, stage, name, n, group, faults = []}, tasks) {
        const task = column(Int32Array, n);
        const [count, start, end, busy] = [1, 2, 3, 4].map(() => column(Float64Array, n));
        for (let i = 0; i < n; i++) {
            count[i] += 1;
            start[i] += tasks.start[task[i]];
            end[i] += tasks.end[task[i]];
            busy[i] = end[i] - start[i] - busy[i];
        }
        const own = stage < 0 ? name : `stage ${stage}.${name}`; // "stage 2.16": accelerator 16 of stage 2
        const marks = faults.map(([what, from, to]) => ({what, from, to}));
        return {kind, name: own, n, group, faults: marks, task, count, start, end, busy};
    }

    const column = columnsOf(await inflate(block.stream));
    const tasks = readTasks(column, block.tasks);
    // An accelerator that idles is worth a row where others compute; a link that only collectives took is not, for
    // their messages are not among the spans, unless it had a fault.
    const computes = tasks.kind.includes(COMPUTE);
    const tracks = block.tracks
        .map((track) => readTrack(column, track, tasks))
        .filter((track) => track.n > 0 || track.faults.length > 0 || track.kind === "path" || (computes && track.kind === "accel"));
    for (const track of tracks)
        if (track.kind === "path") for (const task of track.task) tasks.isCritical[task] = 1;
    return {
        ...block,
        groups: block.jobs ? "job" : block.purposes && "purpose",
        // Jobs are models of one layer each.
        layers: block.jobs
            ? block.jobs.map((name) => [name, "", name, 0])
            : block.purposes
              ? passesOf(block.purposes, tasks)
              : block.layers.map(([name, type, model, set]) => [name, type, block.models[model], set]),
        works: block.works || [],
        computes,
        tasks,
        tracks,
        COMPUTE,
        TRANSFER,
        COLLECTIVE,
    };
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

    const lists = {layer: (r) => r.layers.length, from: (r) => r.nodes.length, to: (r) => r.nodes.length};
    const tasks = {n: sum((run) => run.tasks.n), isCritical: joinField("isCritical", Uint8Array)};
    for (const [field, type] of Object.entries(TASK_FIELDS)) tasks[field] = joinField(field, type, lists[field]);
    // Computations name a work of a step, collectives a collective.
    runs.forEach((run, k) => {
        const at = before(k, (r) => r.tasks.n);
        for (let i = 0; i < run.tasks.n; i++)
            if (run.tasks.kind[i] === run.COMPUTE) tasks.entry[at + i] += before(k, (r) => r.works.length);
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
    const layers = all((run) => run.layers);
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
        works: all((run) => run.works),
        computes: runs.some((run) => run.computes),
        layers,
        tasks,
        tracks,
        layerPrefix: th.sharedPrefix([...new Set(layers.map(([name]) => name))]),
        rowPrefix: {accel: th.sharedPrefix(namesOf("accel")), link: th.sharedPrefix(namesOf("link"))},
    };
};

th.readRuns = async (runs) =>
    th.joinRuns(await Promise.all(runs.map(async ({name, timeline}) => ({...(await th.readRun(timeline)), name}))));

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

// When a row is in use at all: its spans (of tasks that are wanted), each without what those before it cover.
th.coverOf = function (track, isWanted = () => true) {
    const cover = {n: 0, start: [], end: [], busy: []};
    let covered = 0;
    for (let i = 0; i < track.n; i++) {
        const from = Math.max(track.start[i], covered),
            to = track.end[i];
        if (to <= from || !isWanted(track.task[i])) continue;
        cover.n++;
        cover.start.push(from);
        cover.end.push(to);
        cover.busy.push(Math.min(1, track.busy[i] / (to - track.start[i])) * (to - from));
        covered = to;
    }
    return cover;
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
