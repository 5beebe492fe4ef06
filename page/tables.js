// SPDX-License-Identifier: GPL-3.0-or-later
// tables.js - tables that sort by any column: numbers from large to small first, texts in order.
(function () {
    const NONE = "\u2013";

    // One unit holds for a column of numbers, so they compare as they stand; texts that are numbers with units of their
    // own compare by these. A dash comes last.
    function reader(texts, isNumber) {
        const areAmounts = texts.every((text) => text === NONE || th.amount(text));
        return (text) => {
            if (text === NONE) return null;
            if (isNumber) return Number.isNaN(Number.parseFloat(text)) ? null : Number.parseFloat(text);
            return areAmounts ? th.amount(text).value : text;
        };
    }

    function compare(a, b) {
        if (typeof a === "string") return a.localeCompare(b, "en", {numeric: true});
        return a - b;
    }

    function sort(table, column, isAscending) {
        const isNumber = table.tHead.rows[0].cells[column].classList.contains("n");
        const body = table.tBodies[0];
        const texts = [...body.rows].map((row) => row.cells[column].textContent),
            valueOf = reader(texts, isNumber);
        const rows = [...body.rows].map((row, i) => ({row, i, value: valueOf(texts[i])}));
        rows.sort((a, b) => {
            if (a.value === null || b.value === null)
                return (a.value === null) - (b.value === null) || a.i - b.i;
            return (isAscending ? 1 : -1) * compare(a.value, b.value) || a.i - b.i;
        });
        body.append(...rows.map((r) => r.row));
    }

    function click(table, cell, column) {
        const isNumber = cell.classList.contains("n");
        const before = cell.getAttribute("aria-sort");
        const isAscending = before === null ? !isNumber : before === "descending";
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        cell.setAttribute("aria-sort", isAscending ? "ascending" : "descending");
        sort(table, column, isAscending);
    }

    for (const table of document.querySelectorAll("table.sortable"))
        [...table.tHead.rows[0].cells].forEach((cell, column) => {
            if (cell.classList.contains("bars")) return;
            const button = th.make("button", {type: "button"}, ...cell.childNodes);
            button.addEventListener("click", () => click(table, cell, column));
            cell.append(button);
        });
})();
