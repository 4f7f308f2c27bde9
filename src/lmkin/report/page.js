const specs = JSON.parse(document.getElementById("specs").textContent);
const charts = new Map();

// The data of a chart come as columns; Vega wants a record a row.
function records({ fields, columns }) {
  return columns.length ? columns[0].map((_, i) => Object.fromEntries(fields.map((f, k) => [f, columns[k][i]]))) : [];
}

const shared = Object.assign({}, ...specs.map(({ datasets }) => Object.fromEntries(
  Object.entries(datasets ?? {}).filter(([, data]) => data))));
for (const [i, spec] of specs.entries()) {
  for (const name of Object.keys(spec.datasets ?? {})) {
    const data = shared[name];
    spec.datasets[name] = data.fields ? records(data) : structuredClone(data);
  }
  const element = document.getElementById("chart-" + i);
  const most = Math.max(0, ...Object.values(spec.datasets ?? {}).map((rows) => rows.length));
  const renderer = most > 6000 ? "canvas" : "svg";  // an element for each mark would be slow
  const { view } = await window.vegaEmbed(element, spec, { actions: false, renderer });
  charts.set(element, { view, signals: new Set((spec.params ?? []).map((p) => p.name)) });
  if (element.dataset.square) await keepSquare(element, view);
}

// The plot is as wide as the page leaves room beside its labels, and as high as wide.
async function keepSquare(element, view) {
  let busy = false;
  const fit = async () => {
    if (busy) return;
    busy = true;
    for (let round = 0; round < 2; round++) {  // labels may need more or less room after the first
      const beside = element.querySelector("svg, canvas").getBoundingClientRect().width - view.width();
      const size = Math.max(80, Math.floor(Math.min(element.clientWidth - Math.ceil(beside), element.dataset.square)));
      if (size === view.width()) break;
      await view.width(size).height(size).runAsync();
    }
    busy = false;
  };
  await fit();
  new ResizeObserver(fit).observe(element);
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
    const { view, signals } = charts.get(element);
    for (const [signal, value] of Object.entries(values)) {
      if (signals.has(signal)) view.signal(signal, value);
    }
    await view.runAsync();
  }
}

// A browser that comes back to a page may remember what was chosen.
for (const section of document.querySelectorAll("section")) {
  if (!section.querySelector(".switch")) continue;
  await apply(section);
  section.addEventListener("change", () => apply(section));
}

for (const button of document.querySelectorAll(".save button")) {
  button.title = `save as ${button.dataset.format.toUpperCase()}`;
  button.addEventListener("click", async () => {
    const element = button.closest("figure").querySelector(".chart");
    const link = document.createElement("a");
    link.href = await charts.get(element).view.toImageURL(button.dataset.format, button.dataset.format === "png" ? 2 : 1);
    const { signals } = charts.get(element);
    const own = Object.entries(chosen(element.closest("section"))).filter(([signal]) => signals.has(signal));
    const parts = [element.dataset.name, ...own.map(([, value]) => value)];
    link.download = parts.filter((part) => part).join("-") + "." + button.dataset.format;
    link.click();
  });
}
document.documentElement.dataset.ready = "true";
