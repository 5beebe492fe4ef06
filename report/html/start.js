// SPDX-License-Identifier: GPL-3.0-or-later
// start.js - the timeline, as soon as its spans are unpacked (browsers before 2023 may not know how to do that), or the
// points of a study.
if (th.find("spans"))
    th.readSpans(th.find("spans").textContent).then(
        (data) => {
            th.showTimeline(data);
            th.takeControls();
        },
        (error) =>
            th.find("spans").after(th.make("p", {class: "note"}, `The timeline needs a newer browser: ${error.message}`)),
    );
if (th.find("study")) th.showStudy(JSON.parse(th.find("study").textContent));
