// Tables that a click on a heading sorts: ascending, descending, original order.

const NEXT_ORDER = { none: "ascending", ascending: "descending", descending: "none" };
const WORDS = new Intl.Collator("en", { numeric: true });

// Numbers come before words. Missing values are last in both directions.
function sortKey(cell) {
  const isNumeric = cell.classList.contains("number");
  const text = cell.dataset.sort ?? (isNumeric ? "" : cell.textContent.trim());
  if (text === "") return null;
  const number = cell.dataset.sort === undefined ? NaN : Number(text);
  return Number.isNaN(number) ? text : number;
}

function compareKeys(one, other) {
  if (typeof one !== typeof other) return typeof one === "number" ? -1 : 1;
  return typeof one === "number" ? one - other : WORDS.compare(one, other);
}

function sortRows(body, original, column, order) {
  const direction = order === "descending" ? -1 : 1;
  const keyed = original.map((row) => ({ row, key: sortKey(row.cells[column]) }));
  const there = keyed.filter(({ key }) => key !== null);
  const missing = keyed.filter(({ key }) => key === null);
  there.sort((one, other) => direction * compareKeys(one.key, other.key));
  const rows = order === "none" ? original : [...there, ...missing].map(({ row }) => row);
  body.append(...rows);
}

function makeSortable(table) {
  const body = table.tBodies[0];
  const original = [...body.rows];
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    heading.ariaSort = "none";
    const button = element("button", "sort", ...heading.childNodes);
    button.type = "button";
    heading.append(button);
    button.addEventListener("click", () => {
      const order = NEXT_ORDER[heading.ariaSort];
      headings.forEach((other) => (other.ariaSort = "none"));
      heading.ariaSort = order;
      sortRows(body, original, column, order);
    });
  });
}
