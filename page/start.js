// SPDX-License-Identifier: GPL-3.0-or-later
// start.js - the timeline, as soon as its spans are unpacked (browsers before 2023 may not know how to do that), or the
// points of a study.
if (th.document.runs)
    th.readRuns(th.document.runs).then(
        (data) => {
            th.showTimeline(data);
            th.takeControls();
        },
        ({message}) =>
            th.find("spans").after(th.make("p", {class: "note"}, `The timeline needs a newer browser: ${message}`)),
    );
else th.showStudy(th.document);
