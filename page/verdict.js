// SPDX-License-Identifier: GPL-3.0-or-later
// verdict.js - the first screen: figures, what a run comes to in one sentence, and the time breakdown of the critical
// path as a stacked bar. session/sections/verdict.h says what a verdict has.
(function () {
    // Accelerators are balanced if the least busy does at least this part of the work of the busiest: up to a fifth of
    // an accelerator idles for the sake of the slowest.
    const BALANCED = 0.8;
    // Smaller parts of the path are not named, and no more than these.
    const NAMED_SHARE = 0.1,
        NAMED_MOST = 3;
    // Two runs are equally fast within the last digit that is printed.
    const EQUAL = 0.005;
    // Parts of the critical path in prose; the style sheet has their colours, in this order.
    const PARTS = [
        ["array", "array"],
        ["memory", "own DRAM"],
        ["latency", "link latency"],
        ["link", "link bandwidth"],
        ["contention", "contention"],
        ["faults", "faults of links"],
        ["slowdown", "slow accelerators"],
        ["host", "host"],
        ["collective", "collectives"],
        ["wait", "waiting for arrivals"],
    ];

    // Of a step of training: what its last stage does and waits for, and the place of the colour.
    const STEP_PARTS = [
        ["compute", "computation", 0],
        ["optimizer", "optimizer", 2],
        ["bubble_warm_up", "warm-up of the pipeline", 4],
        ["bubble_drain", "drain of the pipeline", 1],
        ["bubble_imbalance", "waiting for the busiest stage", 5],
        ["bubble_waiting", "waiting for other stages", 10],
        ["exposed_tensor", "messages of tensor ranks", 7],
        ["exposed_context", "messages of context ranks", 9],
        ["exposed_expert", "messages of experts", 3],
        ["exposed_data", "messages of weights and gradients", 6],
        ["exposed_pipeline", "messages between stages", 8],
    ];

    // Those that there are: place, name, ps, share. Where one accelerator stands for others, messages are what hosts
    // wait for.
    function partsOf({parts, mergedRanks, stage, elapsed}) {
        if (stage)
            return STEP_PARTS.map(([key, name, place]) => ({place, name, ps: stage[key], share: stage[key] / elapsed})).filter(
                (part) => part.ps > 0,
            );
        const all = Object.values(parts).reduce((sum, ps) => sum + ps, 0);
        return PARTS.map(([key, name], place) => ({
            place,
            name: key === "host" && mergedRanks > 0 ? "messages" : name,
            ps: parts[key] || 0,
            share: (parts[key] || 0) / all,
        })).filter((part) => part.ps > 0);
    }

    const bySize = (v) => partsOf(v).sort((a, b) => b.ps - a.ps || a.place - b.place);

    // ---- the sentence ----

    const percent = (share) => (share > 0 && share < 0.01 ? "less than 1 %" : `${(100 * share).toFixed(0)} %`);

    // "radar misses its deadline of 9.5 ms by 2.64 ms": the latest model, the first of equals.
    function deadlineClause({missed = []}) {
        if (missed.length === 0) return [];
        const [name, deadline, lateness] = missed.reduce((a, b) => (b[2] > a[2] ? b : a));
        const others = missed.length - 1,
            more = others > 0 ? `, and ${others} other ${others === 1 ? "model is" : "models are"} late` : "";
        return [`${name} misses its deadline of ${th.time(deadline)} by ${th.time(lateness)}${more}`];
    }

    // "the critical path is 80 % array and 16 % own DRAM".
    function pathClause(v) {
        const named = bySize(v).filter((part, i) => i === 0 || part.share >= NAMED_SHARE);
        const words = named.slice(0, NAMED_MOST).map(({share, name}) => `${percent(share)} ${name}`);
        if (words.length === 0) return "nothing has ended yet";
        const last = words.pop();
        return `the critical path is ${words.length > 0 ? `${words.join(", ")} and ` : ""}${last}`;
    }

    function classOf([, n, least, , most]) {
        if (n === 1) return `the accelerator works ${percent(most)} of the time`;
        const isBalanced = least >= BALANCED * most,
            isEqual = isBalanced && percent(least) === percent(most),
            range = isEqual ? percent(least) : `${percent(least)} to ${percent(most)}`;
        return `the ${n} accelerators are ${isBalanced ? "" : "not "}balanced, at work ${range} of the time`;
    }

    // Of one class, or the most and the least busy one.
    function accelClause({classes = [], mergedRanks = 0}) {
        const MEAN = 3,
            MOST = 4;
        if (mergedRanks > 0) return [`one accelerator stands for the ${mergedRanks} of its stage`];
        if (classes.length === 0) return [];
        const most = classes.reduce((a, b) => (b[MEAN] > a[MEAN] ? b : a));
        let least = classes.reduce((a, b) => (b[MEAN] < a[MEAN] ? b : a));
        if (most[MOST] <= 0) return [];
        if (classes.length === 1) return [classOf(most)];
        if (least === most) [, least] = classes;
        const what = `${least[MEAN] >= BALANCED * most[MEAN] ? "" : "not "}balanced`,
            [a, b] = [percent(most[MEAN]), percent(least[MEAN])];
        if (classes.length === 2) return [`${most[0]} and ${least[0]} are ${what}, at work ${a} and ${b} of the time`];
        const range = `from ${most[0]} at work ${a} of the time to ${least[0]} at work ${b}`;
        return [`the ${classes.length} kinds of accelerators are ${what}, ${range}`];
    }

    // A missed deadline, the largest parts of the critical path, whether accelerators are balanced, the busiest link.
    th.sentence = function (v) {
        if (v.sentence) return `${v.sentence[0].toUpperCase()}${v.sentence.slice(1)}.`;
        const link = v.link ? [`the link ${v.link[0]} is the busiest at ${percent(v.link[1])}`] : [];
        const clauses = [...deadlineClause(v), pathClause(v), ...accelClause(v), ...link];
        // A name keeps its letters.
        if (!v.missed || v.missed.length === 0) clauses[0] = clauses[0][0].toUpperCase() + clauses[0].slice(1);
        return `${clauses.join("; ")}.`;
    };

    // Samples, or tokens of a step; 0: not known.
    const workOf = (v) => (v.tokensPerS > 0 ? v.tokensPerS * v.elapsed * 1e-12 : v.isHandBuilt ? 0 : v.inputs * v.batch);

    // Of runs of unlike work only the rates can be compared.
    function rates(a, b) {
        const rateOf = ({verdict: v}) => v.tokensPerS || v.samplesPerS;
        const [fast, slow] = rateOf(a) >= rateOf(b) ? [a, b] : [b, a];
        const what = a.verdict.tokensPerS > 0 ? "tokens" : "samples",
            sizes = [fast, slow].map((run) => th.digits(workOf(run.verdict).toFixed(0))).join(" and ");
        return `${fast.name} does ${th.round(rateOf(fast) / rateOf(slow), 3)} times as many ${what} per second as ${slow.name}, in runs of ${sizes} ${what}.`;
    }

    // Which of two runs is faster, and by which part of the critical path.
    th.comparison = function (a, b) {
        const [least, most] = [a, b].map((run) => workOf(run.verdict)).sort((x, y) => x - y);
        if (least > 0 && most > least * (1 + EQUAL)) return rates(a, b);
        const [fast, slow] = a.verdict.elapsed <= b.verdict.elapsed ? [a, b] : [b, a];
        const saved = slow.verdict.elapsed - fast.verdict.elapsed,
            ratio = fast.verdict.elapsed > 0 ? slow.verdict.elapsed / fast.verdict.elapsed : 1;
        if (ratio < 1 + EQUAL) return `${a.name} and ${b.name} take the same time to half a percent.`;
        const areSteps = fast.verdict.stage && slow.verdict.stage;
        const of = ({verdict: v}, key) => (areSteps ? v.stage : v.parts)[key] || 0;
        const saves = ([key]) => of(slow, key) - of(fast, key);
        const part = (areSteps ? STEP_PARTS : PARTS).reduce((most, other) => (saves(other) > saves(most) ? other : most));
        // Other parts may take longer.
        const share = saves(part) > saved ? th.time(saves(part)) : `${((100 * saves(part)) / saved).toFixed(0)} %`,
            by = saves(part) > 0 ? `: it saves ${th.time(saved)}, most of all in ${part[1]} (${share})` : "";
        return `${fast.name} is ${th.round(ratio, 3)} times as fast as ${slow.name}${by}.`;
    };

    // ---- figures ----

    const NONE = "\u2013";

    // A name, a large value with a small unit, and a remark below.
    const figure = (name, [value, unit], remark) =>
        th.make(
            "div",
            {},
            th.make("dt", {}, name),
            th.make("dd", {class: "big"}, value, ...(unit ? [th.make("span", {class: "unit-of"}, unit)] : [])),
            th.make("dd", {class: "remark"}, remark),
        );

    const known = (suffix, value) => (value > 0 ? th.four(suffix, value) : [NONE]);
    const timeOf = (ps) => th.four("_ps", ps).join("\u202f");

    function timeFigure({isDone, latency, elapsed, inputs}) {
        let remark = "from the first task to the last";
        if (!isDone) remark = `not done, stopped at ${timeOf(elapsed)}`;
        else if (latency > 0) remark = `makespan ${timeOf(elapsed)}, ${inputs} ${inputs === 1 ? "input" : "inputs"}`;
        return figure(latency > 0 ? "Latency" : "Makespan", known("_ps", latency || elapsed), remark);
    }

    function rateFigure({isHandBuilt, tokensPerS, moved, samplesPerS, batch}) {
        if (tokensPerS > 0) return figure("Tokens per second", known("_per_s", tokensPerS), "in a step of training");
        return isHandBuilt
            ? figure("Moved over the network", known("_bytes", moved), "arrived by the end")
            : figure("Samples per second", known("_per_s", samplesPerS), `batch ${batch}`);
    }

    // How far the makespan is above the lower bound: in percent, or above ten times as a factor.
    function gapFigure({isDone, elapsed}, {makespan: bound, limited_by: by}) {
        const name = "Gap to the lower bound";
        if (!isDone) return figure(name, [NONE], "known at the end of the run");
        if (!(bound > 0)) return figure(name, [NONE], "no bound is known");
        const gap = elapsed / bound - 1;
        return gap < 10
            ? figure(name, [(100 * gap).toFixed(1), "%"], `above ${timeOf(bound)}, by ${by}`)
            : figure(name, [`\u00d7\u202f${th.round(gap + 1, 3)}`], `the bound is ${timeOf(bound)}, by ${by}`);
    }

    const linkFigure = ({link: [name, load] = ["nothing was carried", 0]}) =>
        figure("Busiest link", [(100 * load).toFixed(1), "%"], name);

    function limitFigure(v) {
        const [part] = bySize(v);
        return part
            ? figure("Limited by", [part.name], `${(100 * part.share).toFixed(0)} % of the critical path`)
            : figure("Limited by", [NONE], "no task has ended");
    }

    const percentFigure = (name, value, remark) => figure(name, [value.toFixed(1), "%"], remark);

    function figuresOfStep({elapsed, tokensPerS, step, stage}) {
        const [tokens, unit] = th.four("_per_s", tokensPerS);
        const part = (ps) => (100 * ps) / elapsed;
        return th.make(
            "dl",
            {class: "figures"},
            figure("Step", th.four("_ps", elapsed), `${tokens} ${unit === "1/s" ? "" : `${unit[0]} `}tokens per s`),
            percentFigure("Model utilization (MFU)", 100 * step.model_utilization, "of the 16-bit peak of all ranks"),
            percentFigure("Bubble", part(stage.bubble), `of stage ${stage.row}, which ends last`),
            figure("Memory", th.four("_bytes", step.accel_memory), "of an accelerator of the fullest stage"),
        );
    }

    // bound: the sums of the table of bounds; null: there is none.
    function figuresOf(v, bound) {
        if (v.stage) return figuresOfStep(v);
        // Where one accelerator stands for others, messages are on no link.
        const third = bound ? [gapFigure(v, bound)] : v.mergedRanks > 0 ? [] : [linkFigure(v)];
        return th.make("dl", {class: "figures"}, timeFigure(v), rateFigure(v), ...third, limitFigure(v));
    }

    // The parts of the critical path as a bar whose whole width is longest, in ps.
    function breakdownOf(v, longest) {
        const parts = partsOf(v);
        const box = ({place}, attributes = {}) => th.make("i", {class: `part-${place}`, ...attributes});
        const widthOf = ({ps}) => ({style: `width: ${((100 * ps) / (longest || 1)).toFixed(3)}%`});
        const told = ({name, share, ps}) => `${name} ${(100 * share).toFixed(1)} %, ${timeOf(ps)}`;
        return [
            th.make(
                "div",
                {class: "stack", role: "img", "aria-label": `Time breakdown of ${v.stage ? "the step" : "the critical path"}`},
                ...parts.map((part) => box(part, widthOf(part))),
            ),
            th.make("ul", {class: "legend"}, ...parts.map((part) => th.make("li", {}, box(part), told(part)))),
        ];
    }

    // No line breaks within the name of an option.
    const wordOf = (part) => (part.startsWith("-") ? th.make("span", {class: "word"}, part) : part);
    const say = (sentence) => th.make("p", {class: "verdict"}, ...sentence.split(/(?<=\s)(-[a-z]\w*)/).map(wordOf));

    // The elements of the summary of one run, or of two.
    th.firstScreen = function (runs, bound) {
        const longest = Math.max(...runs.map((run) => run.verdict.elapsed));
        if (runs.length === 1) {
            const [{verdict}] = runs;
            return [figuresOf(verdict, bound), say(th.sentence(verdict)), ...breakdownOf(verdict, longest)];
        }
        const title = (text) => th.make("h3", {}, text);
        const side = ({name, verdict: v}) => th.make("div", {}, title(name), figuresOf(v, null), say(th.sentence(v)));
        return [
            say(th.comparison(...runs)),
            th.make("div", {class: "pair"}, ...runs.map(side)),
            ...runs.flatMap((run) => [title(`${run.verdict.stage ? "Step" : "Critical path"} of ${run.name}`), ...breakdownOf(run.verdict, longest)]),
        ];
    };
})();
