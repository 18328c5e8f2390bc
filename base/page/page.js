// SPDX-License-Identifier: Apache-2.0
// What a page can do beyond being read: tables sort, code is copied, contents show where the reader is, plots zoom.
"use strict";

function button(text, press) {
  const made = document.createElement("button");
  made.type = "button";
  made.append(text);
  made.addEventListener("click", press);
  return made;
}

// The rows of a table sort by the column whose head is pressed.
for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0];
  if (!table.tHead || body.rows.length < 2) continue;
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    if (!head.textContent.trim()) return;
    const text = row => row.cells[column].textContent.trim().replaceAll("\u2212", "-");
    const number = row => parseFloat(text(row).replace(/^[<+\s]+/, ""));
    const press = button("", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const rows = [...body.rows].sort((a, b) => number(a) - number(b) || text(a).localeCompare(text(b)));
      body.append(...(up ? rows : rows.reverse()));
    });
    press.append(...head.childNodes);
    head.append(press);
  });
}

// Pages of the file system have no clipboard of their own in all browsers; a selection is copied in any.
function copy(code) {
  const range = document.createRange();
  range.selectNodeContents(code);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
  return document.execCommand("copy");
}
for (const code of document.querySelectorAll("code.copy")) {
  const press = button("Copy", () => {
    press.textContent = copy(code) ? "Copied" : "Selected";
    setTimeout(() => press.textContent = "Copy", 1500);
  });
  press.className = "copier";
  press.setAttribute("aria-label", "Copy " + code.textContent);
  code.after(press);
}

const links = new Map([...document.querySelectorAll(".contents a")].map(link => [link.hash.slice(1), link]));
const seen = new IntersectionObserver(entries => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    for (const link of links.values()) link.removeAttribute("aria-current");
    links.get(entry.target.id).setAttribute("aria-current", "true");
  }
}, {rootMargin: "-10% 0px -70% 0px"});
for (const id of links.keys()) if (document.getElementById(id)) seen.observe(document.getElementById(id));

// A part of a drawing, by its view box; and the drawing without the marks of some noises, known by their colours.
for (const figure of document.querySelectorAll("figure.zooms")) {
  const svg = figure.querySelector("svg");
  if (!svg) continue;
  const [left, top, width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const part = {x: left, y: top, size: 1};
  const show = (size, x, y) => {
    part.size = Math.min(1, Math.max(1 / 32, size));
    part.x = Math.min(left + width * (1 - part.size), Math.max(left, x));
    part.y = Math.min(top + height * (1 - part.size), Math.max(top, y));
    svg.setAttribute("viewBox", `${part.x} ${part.y} ${width * part.size} ${height * part.size}`);
  };
  const around = (factor, x, y) => {
    const size = Math.min(1, part.size * factor);
    show(size, x - (x - part.x) * size / part.size, y - (y - part.y) * size / part.size);
  };
  const middle = factor => around(factor, part.x + width * part.size / 2, part.y + height * part.size / 2);
  const move = (x, y) => show(part.size, part.x + x * width * part.size, part.y + y * height * part.size);
  const tools = document.createElement("div");
  tools.className = "tools";
  const add = (text, label, press) => {
    const made = button(text, press);
    made.setAttribute("aria-label", label);
    tools.append(made);
  };
  add("+", "Zoom in", () => middle(1 / 2));
  add("\u2212", "Zoom out", () => middle(2));
  add("\u2190", "To the left", () => move(-1 / 4, 0));
  add("\u2192", "To the right", () => move(1 / 4, 0));
  add("\u2191", "Up", () => move(0, -1 / 4));
  add("\u2193", "Down", () => move(0, 1 / 4));
  add("All", "Show all", () => show(1, left, top));
  for (const lane of JSON.parse(figure.dataset.lanes || "[]")) {
    const marks = ["fill", "stroke", "color"].flatMap(
      attribute => [...svg.querySelectorAll(`[${attribute}="${lane.colour}"]`)]);
    const label = document.createElement("label");
    const box = document.createElement("input");
    box.type = "checkbox";
    box.checked = true;
    box.addEventListener("change", () => marks.forEach(mark => mark.style.display = box.checked ? "" : "none"));
    const dot = document.createElement("span");
    dot.className = "dot";
    dot.style.background = lane.colour;
    label.append(box, dot, lane.name);
    tools.append(label);
  }
  figure.prepend(tools);
  const place = event => {
    const box = svg.getBoundingClientRect();
    return [part.x + (event.clientX - box.left) / box.width * width * part.size,
            part.y + (event.clientY - box.top) / box.height * height * part.size];
  };
  svg.addEventListener("dblclick", event => around(1 / 2, ...place(event)));
  svg.addEventListener("wheel", event => {
    if (!event.ctrlKey) return;  // else the page scrolls
    event.preventDefault();
    around(event.deltaY < 0 ? 0.8 : 1.25, ...place(event));
  }, {passive: false});
  let dragged = null;
  svg.addEventListener("pointerdown", event => dragged = event.pointerType === "mouse" ? place(event) : null);
  addEventListener("pointerup", () => dragged = null);
  svg.addEventListener("pointermove", event => {
    if (!dragged || part.size === 1) return;
    const [x, y] = place(event);
    show(part.size, part.x + dragged[0] - x, part.y + dragged[1] - y);
  });
}

addEventListener("beforeprint", () => document.querySelectorAll("details.row").forEach(row => row.open = true));
