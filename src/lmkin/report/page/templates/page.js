const specs = JSON.parse(document.getElementById("specs").textContent);
const charts = new Map();

// The data of a chart come as columns; Vega wants a record a row.
function records({ fields, columns }) {
  return columns.length ? columns[0].map((_, i) => Object.fromEntries(fields.map((f, k) => [f, columns[k][i]]))) : [];
}

const shared = Object.assign({}, ...specs.map(({ datasets }) => Object.fromEntries(
  Object.entries(datasets ?? {}).filter(([, data]) => data))));
// While something is drawn the page is not ready: html[data-ready] is there once every chart has its final size.
let unfinished = 0;
async function working(work) {
  unfinished += 1;
  delete document.documentElement.dataset.ready;
  try {
    await work();
  } finally {
    unfinished -= 1;
    if (!unfinished) document.documentElement.dataset.ready = "true";
  }
}

const SMALLEST = 80;
const BESIDE = 120;  // a guess at the room that labels take, before any are drawn

async function draw(element, spec) {
  for (const name of Object.keys(spec.datasets ?? {})) {
    const data = shared[name];
    spec.datasets[name] = data.fields ? records(data) : structuredClone(data);
  }
  const most = Math.max(0, ...Object.values(spec.datasets ?? {}).map((rows) => rows.length));
  const renderer = most > 6000 ? "canvas" : "svg";  // an element for each mark would be slow
  const square = Number(element.dataset.square ?? 0);
  if (square) spec.width = spec.height = Math.max(SMALLEST, Math.min(square, element.clientWidth - BESIDE));
  const { view } = await window.vegaEmbed(element, spec, { actions: false, renderer });
  const chart = { element, view, square, signals: new Set((spec.params ?? []).map((p) => p.name)) };
  charts.set(element, chart);
  await fit(chart);
  element.classList.add("drawn");
}

function drawnSize({ element }) {
  const { width, height } = element.querySelector("svg, canvas").getBoundingClientRect();
  return [width, height];
}

// A chart gets its size for the width that its element has, and keeps it until that width is another one. A square plot
// is as wide as the page leaves room beside its labels. Labels come and go with the size of the plot, so that there may
// be no size at which both agree, depending on the fonts: it is the largest of a few that has room.
async function fit(chart) {
  await fitted(chart);
  const key = chart.element.parentElement.querySelector(".key");
  if (key) key.hidden = !chart.view.signal("lettered");
}

async function fitted(chart) {
  const { element, view, square } = chart;
  const room = chart.room = element.clientWidth;
  if (!square) {
    await rest(chart);
    return;
  }
  const tried = new Map();
  let size = view.width();
  while (!tried.has(size) && tried.size < 6) {
    await view.width(size).height(size).runAsync();
    await rest(chart);
    const free = Math.floor(room - drawnSize(chart)[0]);
    tried.set(size, free);
    size = Math.max(SMALLEST, Math.min(square, size + free));
  }
  const fitting = [...tried].filter(([, free]) => free >= 0).map(([tries]) => tries);
  const best = fitting.length ? Math.max(...fitting) : Math.min(...tried.keys());
  if (view.width() !== best) {
    await view.width(best).height(best).runAsync();
    await rest(chart);
  }
}

// Vega may draw once more by itself, to make room for what it has measured.
async function rest(chart) {
  for (let round = 0; round < 4; round++) {
    const before = drawnSize(chart).join();
    await chart.view.runAsync();
    if (drawnSize(chart).join() === before) break;
  }
}

function chosen(section) {
  return Object.fromEntries([...section.querySelectorAll(".switch")].map((box) => {
    const input = box.querySelector("select, input:checked");
    return [box.dataset.signal, input.value];
  }));
}

async function apply(section) {
  const values = chosen(section);
  for (const box of section.querySelectorAll(".switch")) {
    for (const text of box.querySelectorAll("[data-value]")) {
      text.hidden = text.dataset.value !== values[box.dataset.signal];
    }
  }
  const parts = [...section.querySelectorAll("[data-when]")];
  const unfolded = parts.some((part) => !part.hidden && part.open);
  for (const part of parts) {
    const when = Object.entries(JSON.parse(part.dataset.when));
    part.hidden = when.some(([signal, value]) => signal in values && values[signal] !== value);
    part.open = unfolded;
  }
  for (const element of section.querySelectorAll(".chart")) {
    const chart = charts.get(element);
    for (const [signal, value] of Object.entries(values)) {
      if (chart.signals.has(signal)) chart.view.signal(signal, value);
    }
    await chart.view.runAsync();
    await fit(chart);
  }
}

// One thing after another: two that draw the same chart would each measure what the other is about to change.
let last = Promise.resolve();
function inTurn(work) {
  return working(() => (last = last.then(work, work)));
}

await inTurn(async () => {
  for (const [i, spec] of specs.entries()) await draw(document.getElementById("chart-" + i), spec);
  for (const section of document.querySelectorAll("section")) {
    if (!section.querySelector(".switch")) continue;
    await apply(section);  // a browser that comes back to a page may remember what was chosen
    section.addEventListener("change", () => inTurn(() => apply(section)));
  }
});

const watcher = new ResizeObserver((entries) => {
  const changed = entries.map(({ target }) => charts.get(target)).filter((c) => c.element.clientWidth !== c.room);
  if (changed.length) inTurn(async () => { for (const chart of changed) await fit(chart); });
});
for (const element of charts.keys()) watcher.observe(element);

for (const button of document.querySelectorAll(".save button")) {
  button.title = `save as ${button.dataset.format.toUpperCase()}`;
  button.addEventListener("click", async () => {
    const element = button.closest("figure").querySelector(".chart");
    const link = document.createElement("a");
    link.href = await charts.get(element).view.toImageURL(button.dataset.format, button.dataset.format === "png" ? 2 : 1);
    const { signals } = charts.get(element);
    const own = Object.entries(chosen(element.closest("section"))).filter(([signal]) => signals.has(signal) && signal !== "colours");
    const parts = [element.dataset.name, ...own.map(([, value]) => value)];
    link.download = parts.filter((part) => part).join("-") + "." + button.dataset.format;
    link.click();
  });
}
