// SPDX-License-Identifier: GPL-3.0-or-later
// usage.js - utilization over the whole run, above the timeline: the part of the accelerators at work, the part whose
// arrays compute, and the part of the links in use, in bins of equal length.
th.usageOf = function (data, painter) {
    const BINS = 600,
        HEIGHT = 76,
        TOP = 6,
        BOTTOM = 8;
    const width = Math.max(1, data.end) / BINS;

    // Mean over rows of one kind of what spans fill, bin by bin; shareOf: the part of a span's busy time that counts.
    function meanOf(kind, shareOf) {
        const rows = data.tracks.filter((t) => t.kind === kind),
            sum = new Float64Array(BINS);
        for (const track of rows)
            for (let i = 0; i < track.n; i++) {
                const from = track.start[i],
                    to = track.end[i];
                const part = to > from ? (track.busy[i] / (to - from)) * shareOf(track.task[i]) : 0;
                for (let b = Math.floor(from / width); part > 0 && b < BINS && b * width < to; b++)
                    sum[b] += (part * (Math.min(to, (b + 1) * width) - Math.max(from, b * width))) / width;
            }
        return rows.length > 0 ? sum.map((s) => Math.min(1, s / rows.length)) : null;
    }

    const curves = [
        {name: "accelerators at work", color: 0, alpha: 0.35, isFilled: true, at: meanOf("accel", () => 1)},
        {
            name: "arrays computing",
            color: 0,
            alpha: 0.9,
            isFilled: true,
            at: data.costs.length > 0 ? meanOf("accel", (task) => painter.engineShare(task, 0)) : null,
        },
        {name: "links in use", color: 9, alpha: 1, isFilled: false, at: meanOf("link", () => 1)},
        {name: "collectives in flight", color: 8, alpha: 0.5, isFilled: true, at: meanOf("collective", () => 1)},
    ].filter((curve) => curve.at !== null);

    function paintCurve(c, box, curve, color) {
        const y = (share) => HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM);
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

    function paint(c, box, color, fonts) {
        c.clearRect(0, 0, box.left + box.width, HEIGHT);
        c.fillStyle = color.muted;
        c.font = fonts.small;
        c.textBaseline = "middle";
        c.textAlign = "right";
        for (const share of [0, 0.5, 1]) {
            const y = HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM);
            c.fillStyle = color.rule;
            c.fillRect(box.left, Math.round(y), box.width, 1);
            c.fillStyle = color.muted;
            c.fillText(`${100 * share} %`, box.left - 8, y);
        }
        for (const curve of curves) paintCurve(c, box, curve, color);
    }

    return {paint, curves, HEIGHT};
};
