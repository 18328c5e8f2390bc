// SPDX-License-Identifier: Apache-2.0
// The only script of a page: the rows of a table sort by the column whose head is pressed. A page without it reads
// alike.
#pragma once

namespace analysis {

inline constexpr const char* html_script = R"js(
for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0];
  if (!table.tHead || body.rows.length < 2) continue;
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    if (!head.textContent.trim()) return;
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    const text = row => row.cells[column].textContent.trim().replaceAll("\u2212", "-");
    const number = row => parseFloat(text(row).replace(/^[<+\s]+/, ""));
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const rows = [...body.rows].sort((a, b) => number(a) - number(b) || text(a).localeCompare(text(b)));
      body.append(...(up ? rows : rows.reverse()));
    });
  });
}
)js";

}  // namespace analysis
