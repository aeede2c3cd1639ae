// What the page does beyond showing text: sorting and filtering tables, and drawing charts of the data it carries.
(function () {
  "use strict";

  const data = JSON.parse(document.getElementById("data").textContent);

  // el makes an element. Attributes that are functions become listeners; texts are texts, never markup.
  function el(tag, attributes, ...children) {
    const e = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (typeof value === "function") e.addEventListener(name, value);
      else if (value === true) e.setAttribute(name, "");
      else if (value !== false && value !== undefined) e.setAttribute(name, value);
    }
    e.append(...children);
    return e;
  }

  // ---- Tables ----

  const collator = new Intl.Collator("en", { numeric: true });

  // textOf is a cell's text without its footnotes.
  function textOf(cell) {
    return cell.firstChild && cell.firstChild.nodeType === Node.TEXT_NODE ? cell.firstChild.data.trim() : "";
  }

  // numberOf reads 1,881 and −9.6 % and ±0.4 %, and 5.96 × as the +496 % that it is; what is no number is NaN.
  function numberOf(text) {
    const v = parseFloat(text.replace(/,/g, "").replace("−", "-").replace("±", ""));
    return text.includes("×") ? 100 * (v - 1) : v;
  }

  function makeSortable(table) {
    const body = table.tBodies[0];
    const original = Array.from(body.rows);
    const heads = Array.from(table.tHead.rows[0].cells);
    heads.forEach((head, column) => {
      head.querySelector("button").addEventListener("click", () => {
        const next = { none: "ascending", ascending: "descending", descending: "none" }[head.getAttribute("aria-sort") || "none"];
        heads.forEach((h) => h.removeAttribute("aria-sort"));
        if (next !== "none") head.setAttribute("aria-sort", next);
        table.classList.toggle("sorted", next !== "none");
        body.append(...(next === "none" ? original : sorted(column, next === "ascending" ? 1 : -1)));
        original.forEach((row) => row.classList.toggle("break", next === "none" && row.dataset.break === "1"));
      });
    });
    original.forEach((row) => { if (row.classList.contains("break")) row.dataset.break = "1"; });

    // What has no figure comes last, whichever way.
    function sorted(column, direction) {
      const numeric = heads[column].classList.contains("number");
      const keyed = original.map((row) => {
        const text = textOf(row.cells[column]);
        return { row, key: numeric ? numberOf(text) : text };
      });
      keyed.sort((a, b) => {
        if (!numeric) return direction * collator.compare(a.key, b.key);
        if (isNaN(a.key) || isNaN(b.key)) return isNaN(a.key) - isNaN(b.key);
        return direction * (a.key - b.key);
      });
      return keyed.map((k) => k.row);
    }
  }

  // makeFilter shows the rows that hold all words of the input.
  function makeFilter(input, rows, output, noun) {
    const texts = rows.map((row) => row.textContent.toLowerCase());
    function apply() {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let found = 0;
      rows.forEach((row, i) => {
        const shown = words.every((w) => texts[i].includes(w));
        row.hidden = !shown;
        if (shown) found++;
      });
      if (output) output.textContent = words.length ? found + " of " + rows.length + " " + noun : rows.length + " " + noun;
    }
    input.addEventListener("input", apply);
    apply();
  }

  document.querySelectorAll("table.results").forEach(makeSortable);
  document.querySelectorAll(".tools").forEach((tools) => {
    const table = tools.parentElement.querySelector("table");
    tools.hidden = false;
    makeFilter(tools.querySelector("input"), Array.from(table.tBodies[0].rows), tools.querySelector("output"), "rows");
  });

  // ---- Cells and their names ----

  const area = document.getElementById("chart-area");
  const drawable = data.cells.some((c) => c.load || c.tail) || data.scaling.length > 0;
  if (!drawable || typeof uPlot === "undefined") {
    area.replaceWith(el("p", { class: "none" }, "There is nothing to draw: the run has no series and no distributions."));
    return;
  }
  area.hidden = false;
  area.className = "chart-area";

  const colors = 8;
  const selected = new Map(); // cell → number of its colour
  const rowOf = [];
  data.rows.forEach((row, r) => row.cells.forEach((c) => { rowOf[c] = r; }));

  function runName(cell) { return data.runs && data.runs.length ? data.runs[cell.run] : ""; }

  function cellName(c) {
    const cell = data.cells[c], row = data.rows[rowOf[c]];
    const repeats = row.cells.filter((o) => data.cells[o].run === cell.run).length;
    return [row.name, runName(cell), repeats > 1 ? "repeat " + cell.repeat : ""].filter(Boolean).join(" ");
  }

  function select(c) {
    const taken = new Set(selected.values());
    let color = 0;
    while (taken.has(color)) color++;
    selected.set(c, color);
  }

  function selectFirst() {
    selected.clear();
    data.cells.forEach((cell, c) => { if (cell.shown) select(c); });
  }

  // ---- Colours, sizes, figures ----

  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const colorOf = (n) => css("--c" + (n % colors));
  const dashes = { p50: [2, 3], p95: [], p99: [7, 4], system: [7, 4], iowait: [2, 3], steal: [10, 3, 2, 3], written: [7, 4], sent: [7, 4], restarts: [7, 4], reconnects: [2, 3] };

  let paper = false; // drawing for print
  const plotWidth = (holder) => (paper ? 690 : Math.max(240, holder.clientWidth));
  const plotHeight = () => (paper ? 200 : window.innerWidth < 700 ? 220 : 250);

  function figure(v) {
    if (v == null) return "–";
    const a = Math.abs(v);
    if (a >= 1e5) return new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 4 }).format(v);
    if (a >= 1000) return new Intl.NumberFormat("en", { maximumFractionDigits: 0 }).format(v);
    return String(+v.toPrecision(a < 1 ? 3 : 4));
  }

  function seconds(v) {
    if (v == null) return "–";
    if (Math.abs(v) < 120) return +v.toFixed(2) + " s";
    const whole = Math.round(v);
    return Math.floor(whole / 60) + ":" + String(whole % 60).padStart(2, "0");
  }

  function timesOf(timeline) {
    if (timeline.at) return timeline.at;
    const first = Object.values(timeline.lines)[0] || [];
    return first.map((_, i) => i * timeline.step);
  }

  // ---- Charts ----

  const charts = []; // each: { draw() }
  const plots = el("div", { class: "plots" });

  // addChart makes a figure with a title and controls; two halves stand side by side where there is room. build() gives options and data of uPlot, or a text why there is nothing.
  function addChart(title, about, controls, build, half) {
    const holder = el("div", { class: "canvas", tabindex: "0", role: "group", "aria-label": title + ". " + about + " Arrow keys move the cursor, + and − zoom, 0 shows all. The figures are in the tables of this page." });
    const heading = el("h3", {}, title);
    const node = el("figure", { class: half ? "plot half" : "plot" }, el("figcaption", {}, heading, el("span", { class: "controls" }, ...controls)), holder);
    plots.append(node);
    const chart = {
      node, heading, plot: null,
      draw() {
        if (chart.plot) chart.plot.destroy();
        chart.plot = null;
        holder.replaceChildren();
        const built = build();
        if (typeof built === "string") { holder.append(el("p", { class: "none" }, built)); return; }
        const options = Object.assign({ width: plotWidth(holder), height: plotHeight(), legend: { markers } }, built.options);
        chart.plot = new uPlot(options, built.data, holder);
      },
    };
    holder.addEventListener("keydown", (e) => { if (chart.plot && press(chart.plot, e.key)) e.preventDefault(); });
    charts.push(chart);
    return chart;
  }

  // The legend's markers are full for full lines and dashed for others.
  const strokeOf = (u, i) => u.series[i].stroke(u, i);
  const dashed = (u, i) => (u.series[i].dash || []).length > 0;
  const markers = { width: 2, stroke: strokeOf, fill: (u, i) => (dashed(u, i) ? "transparent" : strokeOf(u, i)), dash: (u, i) => (dashed(u, i) ? "dashed" : "solid") };

  // press makes the keyboard do what the mouse does.
  function press(u, key) {
    const xs = u.data[0], last = xs.length - 1;
    const at = u.cursor.idx == null ? -1 : u.cursor.idx;
    const scale = u.scales.x, middle = at >= 0 ? xs[at] : (scale.min + scale.max) / 2;
    const moves = { ArrowRight: Math.min(at + 1, last), ArrowLeft: Math.max(at - 1, 0), Home: 0, End: last };
    if (key in moves) {
      u.setCursor({ left: u.valToPos(xs[moves[key]], "x"), top: u.bbox.height / devicePixelRatio / 2 }, true, true);
      return true;
    }
    const zoom = { "+": 0.5, "-": 2, "−": 2 }[key];
    if (zoom) {
      const min = Math.max(xs[0], middle - (middle - scale.min) * zoom), max = Math.min(xs[last], middle + (scale.max - middle) * zoom);
      if (max > min) u.setScale("x", { min, max });
      return true;
    }
    if (key === "0") { u.setScale("x", { min: xs[0], max: xs[last] }); return true; }
    return false;
  }

  function axis(more) {
    const ink = css("--quiet"), grid = css("--grid");
    return Object.assign({
      stroke: ink, font: "12px system-ui, sans-serif", grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1, size: 4 },
    }, more);
  }

  function valueAxis(more) {
    return axis(Object.assign({
      values: (_, splits) => splits.map((v) => (v == null ? "" : figure(v))),
      size: (_, values) => 16 + 7 * Math.max(3, ...(values || []).map((v) => v.length)),
    }, more));
  }

  function line(label, color, dash, more) {
    return Object.assign({ label, stroke: color, width: 1.75, dash, spanGaps: true, points: { show: false }, value: (_, v) => figure(v) }, more);
  }

  const fromZero = (_, min, max) => [0, max > 0 ? max * 1.06 : 1];

  // timeRange is that of the time axis: of a single figure uPlot would make a hundred seconds.
  const timeRange = (u, min, max) => (u.data[0].length === 1 ? [u.data[0][0], u.data[0][0] + 1] : [min, max]);

  // overTime lays lines of several cells over each other. parts gives, for a cell, a timeline and which of its lines to draw.
  function overTime(parts, log) {
    const tables = [], series = [{ label: "at", value: (_, v) => seconds(v) }];
    let drawn = 0;
    for (const [c, color] of selected) {
      for (const part of parts(data.cells[c])) {
        const lines = part.lines.filter((name) => part.timeline.lines[name]);
        if (!lines.length) continue;
        tables.push([timesOf(part.timeline), ...lines.map((name) => {
          const values = part.timeline.lines[name];
          return log ? values.map((v) => (v > 0 ? v : null)) : values;
        })]);
        const few = timesOf(part.timeline).length < 3;
        lines.forEach((name) => series.push(line([cellName(c), part.name, part.lines.length > 1 ? name : ""].filter(Boolean).join(" "), colorOf(color), dashes[name] || [], few ? { points: { show: true } } : {})));
        drawn++;
      }
    }
    if (!selected.size) return "Choose a cell to draw.";
    if (!drawn) return "The cells that are chosen have no such figures.";
    return {
      options: {
        cursor: { sync: { key: "time", setSeries: false } },
        scales: { x: { time: false, range: timeRange }, y: log ? { distr: 3 } : { range: fromZero } },
        axes: [axis({ values: (_, splits) => splits.map(seconds), size: 34 }), valueAxis()],
        series,
      },
      data: uPlot.join(tables),
    };
  }

  function checkbox(text, checked, changed) {
    const input = el("input", { type: "checkbox", checked });
    input.addEventListener("change", changed);
    return { input, label: el("label", {}, input, " " + text) };
  }

  function choice(text, options, changed) {
    const select = el("select", { change: changed }, ...options.map(([value, name]) => el("option", { value }, name)));
    return { select, label: el("label", {}, text + " ", select) };
  }

  if (data.cells.some((c) => c.load)) {
    addChart("Throughput over time", "Events per second.", [el("span", { class: "quiet" }, "events per second")],
      () => overTime((cell) => (cell.load ? [{ timeline: cell.load, lines: ["tps"] }] : [])));

    const boxes = ["p50", "p95", "p99"].map((name) => [name, checkbox(name, name !== "p50", () => latency.draw())]);
    const log = checkbox("log scale", false, () => latency.draw());
    const latency = addChart("Latency over time", "Percentiles of each second, in milliseconds.", [el("span", { class: "quiet" }, "ms"), ...boxes.map(([, b]) => b.label), log.label], () => {
      const names = boxes.filter(([, b]) => b.input.checked).map(([name]) => name);
      if (!names.length) return "Choose a percentile to draw.";
      const built = overTime((cell) => (cell.load ? [{ timeline: cell.load, lines: names }] : []), log.input.checked);
      if (names.length === 1 && built.options) built.options.series.slice(1).forEach((s) => { s.label += " " + names[0]; });
      return built;
    });
  }

  // What only some loads have.
  [
    ["Errors and restarts over time", "per second", ["errors", "restarts", "reconnects"]],
    ["Queue of the open loop", "events due and not begun", ["queue"]],
  ].forEach(([title, unit, lines]) => {
    if (!data.cells.some((c) => c.load && lines.some((l) => c.load.lines[l]))) return;
    addChart(title, unit + ".", [el("span", { class: "quiet" }, unit)], () => overTime((cell) => (cell.load ? [{ timeline: cell.load, lines }] : [])));
  });

  // Machines: one set of charts for the machine that is chosen.
  const machines = new Map();
  data.cells.forEach((c) => (c.machines || []).forEach((m) => machines.set(m.role, m.name)));
  if (machines.size) {
    const which = choice("Machine", [...machines].map(([role, name]) => [role, name ? role + " (" + name + ")" : role]), () => machineCharts.forEach((c) => c.draw()));
    const machineCharts = [
      ["CPU", "percent of all CPUs", ["user", "system", "iowait", "steal"]],
      ["Run queue", "runnable tasks", ["run queue"]],
      ["Disk", "MiB per second", ["read", "written"]],
      ["Network", "MiB per second", ["received", "sent"]],
    ].map(([title, unit, lines], i) => addChart(title, "Figures of the machine, " + unit + ".", [el("span", { class: "quiet" }, unit), ...(i ? [] : [which.label])],
      () => overTime((cell) => (cell.machines || []).filter((m) => m.role === which.select.value).map((m) => ({ timeline: m.figures, lines }))), i > 0));
  }

  // The server's status: one counter at a time.
  const counters = new Set();
  data.cells.forEach((c) => { if (c.server) Object.keys(c.server.lines).forEach((name) => counters.add(name)); });
  if (counters.size) {
    const which = choice("Counter", [...counters].map((name) => [name, name]), () => server.draw());
    const server = addChart("Server status", "Increase of a status variable per second.", [el("span", { class: "quiet" }, "per second"), which.label],
      () => overTime((cell) => (cell.server ? [{ timeline: cell.server, lines: [which.select.value] }] : [])), true);
  }

  function quantile(x) {
    if (x <= 1) return "0 %";
    if (x <= 2) return "50 %";
    const percent = 100 * (1 - 1 / x);
    return +percent.toFixed(Math.max(0, Math.ceil(Math.log10(x)) - 2)) + " %";
  }

  if (data.cells.some((c) => c.tail)) {
    addChart("Distribution of the latency", "Latency in milliseconds at each percentile, both on logarithmic scales.", [el("span", { class: "quiet" }, "ms at each percentile, log scales")], () => {
      const series = [{ label: "percentile", value: (_, v) => (v == null ? "–" : +(100 * (1 - 1 / v)).toPrecision(7) + " %") }], columns = [];
      for (const [c, color] of selected) {
        const tail = data.cells[c].tail;
        if (!tail) continue;
        columns.push(data.tail.map((_, i) => (tail[i] > 0 ? tail[i] : null)));
        series.push(line(cellName(c), colorOf(color), []));
      }
      if (!columns.length) return selected.size ? "The cells that are chosen have no distribution." : "Choose a cell to draw.";
      let longest = 2;
      columns.forEach((c) => c.forEach((v, i) => { if (v != null) longest = Math.max(longest, i + 1); }));
      const splits = [1, 2, 10, 100, 1e3, 1e4, 1e5, 1e6];
      return {
        options: {
          scales: { x: { time: false, distr: 3, range: (_, min, max) => [min, max] }, y: { distr: 3 } },
          axes: [
            axis({ splits: (u) => splits.filter((v) => v <= u.scales.x.max * 1.001 && (v !== 2 || u.width > 480)), filter: (_, s) => s, values: (_, s) => s.map(quantile), size: 34 }),
            valueAxis(),
          ],
          series,
        },
        data: [data.tail.slice(0, longest), ...columns.map((c) => c.slice(0, longest))],
      };
    });
  }

  // ---- Scaling ----

  if (data.scaling.length) {
    const options = [];
    data.scaling.forEach((view, v) => view.metrics.forEach((m) => options.push([v + "/" + m.name, m.title + " over " + view.over])));
    const which = choice("Show", options, () => scaling.draw());
    const scaling = addChart("Scaling", "A metric over a number, a line a scenario, with 95 % intervals.", [which.label, el("span", { class: "quiet" }, "bars are 95 % intervals")], () => {
      const [v, ...rest] = which.select.value.split("/");
      const view = data.scaling[+v], metric = rest.join("/");
      const lines = view.lines.filter((l) => l.values[metric] && l.values[metric][0].some((y) => y != null)).slice(0, 16);
      if (!lines.length) return "No scenario has this figure.";
      const xs = [...new Set(lines.flatMap((l) => l.x))].sort((a, b) => a - b);
      const log = xs[0] > 0 && xs[xs.length - 1] / xs[0] >= 8;
      const top = Math.max(...lines.flatMap((l) => [...l.values[metric][0], ...l.values[metric][2]].map((y) => y || 0)));
      return {
        options: {
          cursor: { drag: { x: false, y: false } },
          scales: {
            x: { time: false, distr: log ? 3 : 1, log: 2, range: (_, min, max) => (log ? [min / 1.15, max * 1.15] : [min - (max - min) * 0.05, max + (max - min) * 0.05]) },
            y: { range: () => [0, top * 1.08 || 1] },
          },
          axes: [axis({ splits: () => xs, filter: (_, s) => s, values: (_, s) => s.map(figure), size: 30, label: view.over, labelSize: 18, labelFont: "12px system-ui, sans-serif" }), valueAxis()],
          series: [{ label: view.over, value: (_, x) => figure(x) }, ...lines.map((l, i) => line(l.name, colorOf(i), i >= colors ? [6, 4] : [], { points: { show: true, size: 7, fill: colorOf(i) } }))],
          hooks: { draw: [(u) => drawIntervals(u, lines.map((l) => ({ x: l.x, lo: l.values[metric][1], hi: l.values[metric][2] })))] },
        },
        data: uPlot.join(lines.map((l) => [l.x, l.values[metric][0]])),
      };
    });
  }

  function drawIntervals(u, lines) {
    const g = u.ctx, cap = 4 * devicePixelRatio;
    g.save();
    g.lineWidth = 1.5 * devicePixelRatio;
    lines.forEach((l, i) => {
      if (!u.series[i + 1].show) return;
      g.strokeStyle = colorOf(i);
      l.x.forEach((x, k) => {
        if (l.lo[k] == null || l.hi[k] == null) return;
        const at = u.valToPos(x, "x", true), lo = u.valToPos(l.lo[k], "y", true), hi = u.valToPos(l.hi[k], "y", true);
        g.beginPath();
        g.moveTo(at, lo); g.lineTo(at, hi);
        g.moveTo(at - cap, lo); g.lineTo(at + cap, lo);
        g.moveTo(at - cap, hi); g.lineTo(at + cap, hi);
        g.stroke();
      });
    });
    g.restore();
  }

  // ---- The cells to draw, and their figures as a table ----

  const choices = el("ul", { class: "choices" });
  const inputs = new Map();
  data.rows.forEach((row) => {
    const chips = el("span", { class: "chips" });
    let run = -1, group = chips;
    row.cells.forEach((c) => {
      const cell = data.cells[c];
      if (!cell.load && !cell.tail) return;
      if (runName(cell) && cell.run !== run) {
        group = el("span", { class: "chips" }, el("span", { class: "quiet" }, runName(cell)));
        chips.append(group);
      }
      run = cell.run;
      const input = el("input", { type: "checkbox", "aria-label": cellName(c) + (cell.partial ? ", partial" : "") });
      input.addEventListener("change", () => {
        if (input.checked) select(c); else selected.delete(c);
        changed();
      });
      inputs.set(c, input);
      group.append(el("label", { class: "chip", title: cellName(c) }, input, el("span", { "aria-hidden": "true" }, cell.repeat + (cell.partial ? "*" : ""))));
    });
    if (chips.childNodes.length) choices.append(el("li", {}, el("span", { dir: "auto" }, row.name), chips));
  });

  const picker = el("fieldset", { class: "picker" }, el("legend", {}, "Cells to draw, by repeat"));
  if (choices.children.length > 12) {
    const search = el("input", { type: "search", "aria-label": "Filter the cells", placeholder: "Filter", autocomplete: "off" });
    picker.append(search);
    makeFilter(search, Array.from(choices.children), null, "");
  }
  picker.append(choices, el("div", { class: "buttons" },
    el("button", { type: "button", class: "small", click: () => { selectFirst(); changed(); } }, "As at first"),
    el("button", { type: "button", class: "small", click: () => { selected.clear(); changed(); } }, "None")));
  if (data.cells.some((c) => c.partial)) picker.append(el("p", { class: "none" }, "* not complete"));
  if (data.note) picker.append(el("p", { class: "none" }, data.note));

  const summaryBody = el("tbody", {});
  const summary = el("details", {}, el("summary", {}, "The figures of these charts as a table"),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Figures of the charts" }, el("table", { class: "plain" },
      el("thead", {}, el("tr", {}, ...["Cell", "events/s: mean", "lowest", "highest", "p50 ms", "p95 ms", "p99 ms", "p99.9 ms", "max ms"].map((t) => el("th", { scope: "col" }, t)))), summaryBody)));

  function drawSummary() {
    summaryBody.replaceChildren(...[...selected.keys()].map((c) => {
      const cell = data.cells[c], rates = cell.load ? cell.load.lines.tps.filter((v) => v != null) : [];
      const mean = rates.length ? rates.reduce((a, b) => a + b, 0) / rates.length : null;
      const values = [mean, rates.length ? Math.min(...rates) : null, rates.length ? Math.max(...rates) : null, ...(cell.latency || [null, null, null, null, null])];
      return el("tr", {}, el("th", { scope: "row" }, cellName(c)), ...values.map((v) => el("td", { class: "number" }, figure(v))));
    }));
  }

  // ---- Drawing it all, and anew when the selection, the size, the colours or the medium change ----

  function draw() {
    for (const [c, input] of inputs) {
      input.checked = selected.has(c);
      input.parentElement.style.setProperty("--color", selected.has(c) ? colorOf(selected.get(c)) : "transparent");
    }
    charts.forEach((c) => c.draw());
    drawSummary();
  }

  function changed() { draw(); }

  area.append(...(inputs.size ? [picker] : []), plots);
  plots.append(summary);
  selectFirst();
  draw();

  let width = plots.clientWidth;
  new ResizeObserver(() => {
    if (paper || plots.clientWidth === width) return;
    width = plots.clientWidth;
    charts.forEach((c) => { if (c.plot) c.plot.setSize({ width: plotWidth(c.node), height: plotHeight() }); });
  }).observe(plots);

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);

  // On paper the charts are light and as wide as the sheet, and what is folded is open, but for the long lists.
  let opened = [];
  function toPaper(on) {
    if (on === paper) return;
    paper = on;
    document.documentElement.classList.toggle("paper", on);
    if (on) {
      opened = Array.from(document.querySelectorAll("details:not([open])")).filter((d) => !d.querySelector(".filter"));
      opened.forEach((d) => { d.open = true; });
    } else {
      opened.forEach((d) => { d.open = false; });
    }
    draw();
  }
  window.addEventListener("beforeprint", () => toPaper(true));
  window.addEventListener("afterprint", () => toPaper(false));
  matchMedia("print").addEventListener("change", (e) => toPaper(e.matches));
})();
