// SPDX-License-Identifier: GPL-3.0-or-later
// start.js - the timeline, as soon as its spans are unpacked. Browsers before 2023 may not know how to do that.
th.readSpans(th.find("spans").textContent).then(
    (data) => {
        th.showTimeline(data);
        th.takeControls();
    },
    (error) => th.find("spans").after(th.make("p", {class: "note"}, `The timeline needs a newer browser: ${error.message}`)),
);
