// The field above a table: only rows that contain all its words are shown.

function makeSearchable(field) {
  const rows = [...field.closest(".table").querySelectorAll("tbody tr")].map((row) => ({
    row,
    text: row.textContent.toLowerCase(),
  }));
  const none = field.closest(".table").querySelector(".no-match");
  field.closest("label").hidden = false;
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/);
    rows.forEach(({ row, text }) => (row.hidden = !words.every((word) => text.includes(word))));
    none.hidden = rows.some(({ row }) => !row.hidden);
  });
}
