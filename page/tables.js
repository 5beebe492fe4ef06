// SPDX-License-Identifier: GPL-3.0-or-later
// tables.js - tables that sort by any column: numbers from large to small first, texts in order.
(function () {
    // One unit holds for a column, so its numbers compare as they stand; a dash comes last.
    function valueOf(row, column, isNumber) {
        const text = row.cells[column].textContent;
        if (!isNumber) return text;
        const number = Number.parseFloat(text);
        return Number.isNaN(number) ? null : number;
    }

    function compare(a, b) {
        if (typeof a === "string") return a.localeCompare(b, "en", {numeric: true});
        return a - b;
    }

    function sort(table, column, isAscending) {
        const isNumber = table.tHead.rows[0].cells[column].classList.contains("n");
        const body = table.tBodies[0];
        const rows = [...body.rows].map((row, i) => ({
            row,
            i,
            value: valueOf(row, column, isNumber),
        }));
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
