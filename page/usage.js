// SPDX-License-Identifier: GPL-3.0-or-later
// usage.js - utilization over the whole run, above the timeline: the part of the accelerators at work, the part whose
// arrays compute, and the part of the links in use, in bins of equal length.
th.usageOf = function (data, painter) {
    const BINS = 600,
        CHART = 76,
        HEIGHT = CHART * data.runs.length,
        TOP = 6,
        BOTTOM = 8;
    const width = Math.max(1, data.end) / BINS;

    // Mean over rows of one kind of when they are in use, bin by bin; with shareOf of the part of each span that counts.
    function meanOf(run, kind, shareOf) {
        const rows = data.tracks.filter((t) => t.kind === kind && t.run === run),
            sum = new Float64Array(BINS);
        for (const track of rows) {
            const spans = shareOf ? track : th.coverOf(track);
            for (let i = 0; i < spans.n; i++) {
                const from = spans.start[i],
                    to = spans.end[i];
                const part = to > from ? (spans.busy[i] / (to - from)) * (shareOf ? shareOf(track.task[i]) : 1) : 0;
                for (let b = Math.floor(from / width); part > 0 && b < BINS && b * width < to; b++)
                    sum[b] += (part * (Math.min(to, (b + 1) * width) - Math.max(from, b * width))) / width;
            }
        }
        return rows.length > 0 ? sum.map((s) => Math.min(1, s / rows.length)) : null;
    }

    const curvesOf = (run) => [
        {name: "accelerators at work", color: 0, alpha: 0.35, isFilled: true, at: data.computes ? meanOf(run, "accel") : null},
        {
            name: "arrays computing",
            color: 0,
            alpha: 0.9,
            isFilled: true,
            at: data.computes ? meanOf(run, "accel", (task) => painter.engineShare(task, 0)) : null,
        },
        {name: "links in use", color: 9, alpha: 1, isFilled: false, at: meanOf(run, "link")},
        {name: "collectives in flight", color: 8, alpha: 0.5, isFilled: true, at: meanOf(run, "collective")},
    ];
    const charts = data.runs.map((_, run) => curvesOf(run).filter((curve) => curve.at !== null));
    const heightOf = (run, share) => (run + 1) * CHART - BOTTOM - share * (CHART - TOP - BOTTOM);

    function paintCurve(c, box, run, curve, color) {
        const y = (share) => heightOf(run, share);
        c.beginPath();
        c.moveTo(box.left, y(0));
        curve.at.forEach((share, b) => {
            c.lineTo(box.left + (b / BINS) * box.width, y(share));
            c.lineTo(box.left + ((b + 1) / BINS) * box.width, y(share));
        });
        c.lineTo(box.left + box.width, y(0));
        c.globalAlpha = curve.alpha;
        c.fillStyle = c.strokeStyle = color.span[curve.color];
        c.lineWidth = 1.5;
        if (curve.isFilled) c.fill();
        else c.stroke();
        c.globalAlpha = 1;
    }

    // A strip on top: when anything had a fault.
    function paintFaults(c, box, run, color) {
        const FAULT = 10,
            scale = box.width / Math.max(1, data.end);
        c.fillStyle = color.span[FAULT];
        for (const track of data.tracks.filter((t) => t.run === run))
            for (const {from, to} of track.faults)
                c.fillRect(box.left + from * scale, run * CHART, Math.max(1, (to - from) * scale), 3);
    }

    function paintChart(c, box, run, color, fonts) {
        for (const share of [0, 0.5, 1]) {
            const y = heightOf(run, share);
            c.fillStyle = color.rule;
            c.fillRect(box.left, Math.round(y), box.width, 1);
            c.fillStyle = color.muted;
            c.font = fonts.small;
            c.textAlign = "right";
            c.fillText(`${100 * share} %`, box.left - 8, y);
        }
        for (const curve of charts[run]) paintCurve(c, box, run, curve, color);
        paintFaults(c, box, run, color);
        if (data.runs.length === 1) return;
        c.fillStyle = color.text;
        c.font = fonts.heading;
        c.textAlign = "left";
        c.fillText(data.runs[run].name, 4, heightOf(run, 0.75), box.left - 44);
    }

    function paint(c, box, color, fonts) {
        c.clearRect(0, 0, box.left + box.width, HEIGHT);
        c.textBaseline = "middle";
        data.runs.forEach((_, run) => paintChart(c, box, run, color, fonts));
    }

    // The curves that any run has, for the legend.
    const curves = [...new Map(charts.flat().map((curve) => [curve.name, curve])).values()];
    return {paint, curves, HEIGHT};
};
