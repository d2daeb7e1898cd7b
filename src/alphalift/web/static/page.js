// The page: what is chosen, what is asked for it, and what is shown. The server computes; this only draws.
import { Refused, follow, get, post, upload } from "./ask.js";
import { Columns } from "./columns.js";
import { showCompare } from "./compare.js";
import { drawCurve } from "./curve.js";
import { showDesign } from "./design.js";
import { Leave } from "./leave.js";
import { find, range, show, upPercent, working } from "./make.js";

const SETTLED = 250, PLACES = 400, FIRST_EPSILON = 0.3, FIRST_ALPHA = "10";
const state = {
  table: 0, look: null, alphas: [], alpha: FIRST_ALPHA, epsilon: String(FIRST_EPSILON), everybody: false, step: 0.001, digits: 3,
  count: null, countJob: null, curve: null, curves: new Map(), design: null, designJob: null, pins: { A: null, B: null },
};
const columns = new Columns((what) => chosen(what));
const leave = new Leave(find("leave"), { trouble, news });
let asking = 0, designing = 0, counting = 0, telling = 0, settled = null, said = null;

// --- words that everything uses ---

function trouble(error) {
  const text = error instanceof Refused ? error.message : "The page's server does not answer. Is it still running?";
  const box = find("trouble");
  box.firstElementChild.textContent = text;
  show(box);
}

function news(text) {
  find("news").textContent = text;
}

async function quietly(act) {
  try {
    await act();
  } catch (error) {
    trouble(error);
  }
}

// --- the table ---

async function opened(started, name, preset = {}) {
  show(find("trouble"), false);
  const busy = working(find("opening"), `Reading ${name}`);
  const own = ++state.table;
  forget();
  try {
    const { job } = await started();
    const look = await follow(job, ({ progress }) => progress.notice && busy.say(progress.notice), () => own === state.table);
    if (!look) return;
    state.look = job;
    const { table } = await get("state");
    find("table-name").textContent = table.name;
    find("table-size").textContent = `${look.columns.length} columns`;
    show(find("opened"));
    show(find("open"), false);
    show(find("columns-card"));
    columns.open(look.columns, preset);
    news(`${table.name} is open, with ${look.columns.length} columns. Choose a secret and a useful one.`);
    chosen("secret");
  } catch (error) {
    if (own === state.table) throw error;
  } finally {
    busy.end();
  }
}

function forget() {
  telling += 1;
  counting += 1;
  designing += 1;
  clearTimeout(settled);
  Object.assign(state, { count: null, countJob: null, curve: null, design: null, designJob: null, pins: { A: null, B: null } });
  state.curves.clear();
  for (const card of ["columns-card", "promise-card", "curve-card", "design-card", "compare-card", "leave-card"]) show(find(card), false);
  find("bins").value = "";
  find("drop-missing").checked = false;
  find("design").replaceChildren();
  for (const place of ["telling", "counting", "design-working", "curve-working"]) show(find(place), false);
  show(find("opened"), false);
  show(find("open"));
  show(find("welcome"));
}

const takeFile = (file) => file && quietly(() => opened(() => upload(file), file.name));

// --- the columns ---

function asked() {
  const bins = find("bins").value.split("\n").map((line) => line.trim()).filter(Boolean);
  return { look: state.look, sensitive: columns.sensitive, useful: columns.useful, bins, drop_missing: find("drop-missing").checked };
}

function chosen(what) {
  if (what === "secret") quietly(() => tellColumns());
  quietly(countColumns);
}

let told = [];
async function tellColumns(again = false) {
  const own = ++telling, sensitive = columns.sensitive;
  if (!again) { columns.forgetTold(); told = []; }
  if (!sensitive.length || (again && !columns.untold.length)) return;
  const { job } = await post("tells", { look: state.look, sensitive, of: again ? columns.untold : columns.names });
  const busy = working(find("telling"), "Looking at what columns tell", () => post("stop", { job }));
  try {
    const result = await follow(job, ({ progress }) => {
      if (progress.found) {
        columns.tell(progress.found);
        busy.say(`Looking at what columns tell: ${progress.done} of ${progress.of}`);
      }
    }, () => own === telling);
    if (result && own === telling) {
      told = [...told, ...result.found];
      columns.tell(result.found);
      columns.sort(told);
    }
  } finally {
    if (own === telling) busy.end();
  }
}

async function countColumns() {
  const own = ++counting, now = asked();
  const ready = now.sensitive.length > 0 && now.useful.length > 0;
  // What is shown of the columns before must not be taken for these, and not be released.
  designing += 1;
  clearTimeout(settled);
  Object.assign(state, { count: null, countJob: null, curve: null, design: null, designJob: null });
  for (const card of ["promise-card", "curve-card", "design-card", "leave-card"]) show(find(card), false);
  show(find("welcome"), !ready);
  if (!ready) return;
  const { job } = await post("count", now);
  const busy = working(find("counting"), "Counting", () => post("stop", { job }));
  try {
    const count = await follow(job, () => {}, () => own === counting);
    if (!count || own !== counting) return;
    Object.assign(state, { count, countJob: job });
    find("table-size").textContent = `${count.records.toLocaleString("en")} records, ${columns.names.length} columns`;
    find("cautions").replaceChildren(...count.cautions.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
    for (const card of ["promise-card", "curve-card", "design-card"]) show(find(card));
    find("design").replaceChildren();
    spread();
    moved();
    quietly(ensureCurve);
  } catch (error) {
    if (own === counting) throw error;
  } finally {
    if (own === counting) busy.end();
  }
}

// --- the promise ---

// The slider's places for this alpha: round steps from 0 to where X may be published.
function spread() {
  const largest = state.count.largest[state.alpha];
  const rough = Math.max(largest, 1e-6) / PLACES, power = 10 ** Math.floor(Math.log10(rough));
  state.step = [1, 2, 5, 10].map((own) => own * power).find((own) => own >= rough * (1 - 1e-12));
  state.digits = Math.max(0, -Math.floor(Math.log10(state.step) + 1e-9));
  const slider = find("epsilon");
  slider.max = Math.max(1, Math.ceil(largest / state.step - 1e-9));
  place(Math.min(Number(state.epsilon), slider.max * state.step), Number(state.epsilon) <= slider.max * state.step ? state.epsilon : null);
}

function place(value, text = null) {
  const slider = find("epsilon");
  slider.value = Math.round(value / state.step);
  state.epsilon = text ?? exact(Number(slider.value));
  shown();
}

const exact = (number) => String(Number((number * state.step).toFixed(state.digits)));

function shown() {
  const alpha = state.alpha === "inf" ? "∞" : state.alpha;
  find("alpha-shown").textContent = `α = ${alpha}`;
  find("alpha").setAttribute("aria-valuetext", state.alpha === "inf" ? "alpha infinite, every group alike" : `alpha ${state.alpha}`);
  find("epsilon-shown").textContent = state.epsilon;
  find("epsilon").setAttribute("aria-valuetext", `epsilon ${state.epsilon}`);
  if (document.activeElement !== find("typed")) find("typed").value = state.epsilon;
}

// Whatever moved: the answer from the curve at once, the exact design when it rests.
function moved() {
  if (!state.count) return;
  shown();
  live();
  markCurve();
  clearTimeout(settled);
  settled = setTimeout(() => quietly(design), SETTLED);
}

let waiting = false, forgotten = false;
async function live() {
  if (!state.count) return;
  if (asking) { waiting = true; return; }
  asking = 1;
  const begun = performance.now();
  try {
    const { alpha, epsilon } = state;
    const told = await post("live", { count: state.countJob, curve: state.curve?.job ?? null, alpha, epsilon });
    find("live-kept").textContent = told.lower === undefined ? "…" : range(told.lower, told.upper);
    find("live-gain").textContent = `${told.gain} ×`;
    find("live-risk").textContent = told.risk;
    find("live-risk").dataset.epsilon = epsilon;
    performance.measure("live", { start: begun, end: performance.now() });
    clearTimeout(said);
    said = setTimeout(() => news(`epsilon ${epsilon}. ${told.kept ?? ""} ${told.risk}`), 700);
    forgotten = false;
  } catch (error) {
    if (!(error instanceof Refused) || forgotten) trouble(error);
    else { forgotten = true; state.curves.clear(); chosen("useful"); } // the server has forgotten: once more from the columns
  } finally {
    asking = 0;
    if (waiting) { waiting = false; live(); }
  }
}

async function keep(event) {
  event.preventDefault();
  if (document.activeElement === find("typed")) { typed(); return; }
  if (!state.curve?.drawn) { throw new Refused("The curve is still being computed; ask again when it is there."); }
  const share = Number(find("share").value) / 100;
  const told = await post("keep", { curve: state.curve.job, share });
  const words = find("keep-said");
  show(words);
  if (told.epsilon === null) {
    words.textContent = "The curve knows no ε that keeps so much.";
    return;
  }
  place(Number(told.epsilon), told.epsilon);
  moved();
  words.textContent = `ε = ${told.epsilon} keeps at least ${find("share").value}%, for the records alone`
    + (told.fails > 1e-4 ? `; below ε = ${Math.floor(told.fails * 1e4) / 1e4} no mechanism does.` : ".");
  news(words.textContent);
}

function typed() {
  const text = find("typed").value.trim().replace(",", ".");
  if (!/^\d+(\.\d+)?$/.test(text)) { find("typed").value = state.epsilon; return; }
  place(Number(text), text);
  moved();
}

// --- the curve ---

async function ensureCurve() {
  if (!state.count) return;
  const now = asked(), alpha = state.alpha, key = JSON.stringify([now, alpha]);
  const busy = find("curve-working");
  let own = state.curves.get(key);
  state.curve = null; // until it is known that it is the one of these columns and this alpha
  if (!own || own.gone) {
    own = { job: null, drawn: null, accuracy: null, done: false };
    state.curves.set(key, own);
    try {
      own.job = (await post("curve", { ...now, alpha })).job;
    } catch (error) {
      own.gone = true;
      throw error;
    }
    watchCurve(own);
    if (key !== JSON.stringify([asked(), state.alpha])) return;
  }
  state.curve = own;
  show(busy, !own.done);
  redraw();
  live();
}

async function watchCurve(own) {
  const line = working(find("curve-working"), "Computing the certified curve", () => post("stop", { job: own.job }));
  try {
    const take = (told) => {
      if (told?.drawn) Object.assign(own, { drawn: told.drawn, accuracy: told.accuracy });
      if (told?.stage) line.say(told.drawn
        ? `Known to within ${upPercent(told.accuracy)}; computing it to ${upPercent(told.wanted)}`
        : "Computing the certified curve");
      if (told?.notice) line.say(told.notice);
      if (own === state.curve) { redraw(); live(); }
    };
    const result = await follow(own.job, (job) => take(job.result ?? job.progress));
    own.stopped = result === null;
    if (own.stopped && !own.drawn) own.gone = true;
    own.done = true;
    if (own === state.curve) { redraw(); live(); news("The curve is computed."); }
  } catch (error) {
    own.gone = own.done = true;
    if (own === state.curve) trouble(error);
  } finally {
    line.end();
    if (own === state.curve) quietly(() => tellColumns(true)); // what was left out for the curve
  }
}

function redraw() {
  const own = state.curve, place = find("curve");
  if (!own?.drawn) { place.replaceChildren(); find("curve-said").textContent = own?.gone ? "Stopped before anything was known. Move a slider to compute it again." : ""; return; }
  markCurve();
  const more = own.stopped ? " It was stopped before it was finer." : "";
  find("curve-said").textContent = `The most useful mechanism for the records alone lies in the band, which is ${upPercent(own.accuracy)} of the information high at most. A design that leaves room for chance lies below it.${more}`;
}

function markCurve() {
  const own = state.curve;
  if (!own?.drawn || !state.count) return;
  const rarest = state.count.shares.indexOf(Math.min(...state.count.shares));
  const now = JSON.stringify(asked()), mine = (one) => one && one.alpha === state.alpha && one.asked === now;
  const pins = ["A", "B"].filter((name) => mine(state.pins[name])).map((name) => ({ epsilon: state.pins[name].epsilon, kept: state.pins[name].kept, name, kind: name.toLowerCase() }));
  if (mine(state.design)) pins.push({ epsilon: state.design.epsilon, kept: state.design.kept, name: "", kind: "here" });
  drawCurve(find("curve"), own.drawn, {
    end: Number(find("epsilon").max) * state.step, epsilon: state.epsilon, useful: state.count.useful, pins,
    group: `what the rarest group may gain: ${state.count.secrets[rarest]}`,
  });
}

// --- the exact design ---

async function design() {
  const own = ++designing, now = { ...asked(), alpha: state.alpha, epsilon: state.epsilon, everybody: state.everybody };
  find("design").classList.add("old");
  for (const button of ["pin-a", "pin-b"]) find(button).disabled = true;
  show(find("leave-card"), false);
  let busy = null;
  try {
    const { job } = await post("design", now);
    busy = working(find("design-working"), `Designing for ε = ${now.epsilon}`, () => post("stop", { job }));
    const found = await follow(job, (told) => busy.say(told.progress.notice ?? (told.progress.gap !== undefined ? `Designing for ε = ${now.epsilon}: gap ${upPercent(told.progress.gap)}` : `Designing for ε = ${now.epsilon}`)), () => own === designing);
    if (own !== designing) return;
    if (!found) { busy.end(); stopped(); return; }
    const { alpha, epsilon, everybody, ...columnsAsked } = now;
    Object.assign(found, { asked: JSON.stringify(columnsAsked) });
    Object.assign(state, { design: found, designJob: job });
    showDesign(find("design"), found);
    find("design").dataset.epsilon = found.epsilon;
    find("design").classList.remove("old");
    for (const button of ["pin-a", "pin-b"]) find(button).disabled = false;
    markCurve();
    news(`Designed: ${found.kept_words} of the information in ${found.useful} is kept.`);
    show(find("leave-card"));
    const taken = [...now.sensitive, ...now.useful];
    await leave.open(job, columns.names.filter((name) => !taken.includes(name)));
  } finally {
    if (own === designing) busy?.end();
  }
}

// What is shown is older; nothing is designed until it is asked for.
function stopped() {
  const place = find("design-working"), again = document.createElement("button");
  again.type = "button";
  again.className = "stop";
  again.textContent = "Design it";
  again.addEventListener("click", () => quietly(design));
  place.replaceChildren("Stopped: nothing is designed for this place of the sliders.", again);
  show(place);
}

function pin(name) {
  state.pins[name] = state.design;
  show(find("compare-card"));
  showCompare(find("compare"), state.pins, { back });
  markCurve();
  news(`Pinned as ${name}.`);
}

function back(own) {
  if (own.asked !== JSON.stringify(asked())) {
    trouble(new Refused("That design is of other columns, or counted otherwise: choose these first."));
    return;
  }
  state.alpha = own.alpha;
  find("alpha").value = state.alphas.indexOf(own.alpha);
  state.everybody = own.everybody;
  document.querySelector(`input[name=who][value=${own.everybody ? "everybody" : "sample"}]`).checked = true;
  state.epsilon = own.epsilon;
  spread();
  moved();
  quietly(ensureCurve);
}

// --- what is wired to what ---

function wire() {
  find("file").addEventListener("change", (event) => { takeFile(event.target.files[0]); event.target.value = ""; });
  find("census").addEventListener("click", () =>
    quietly(() => opened(() => post("census"), "the census", { sensitive: ["race"], useful: ["education"] })));
  find("other-table").addEventListener("click", () => { show(find("opened"), false); show(find("open")); find("file").focus(); });
  find("trouble").querySelector("button").addEventListener("click", () => show(find("trouble"), false));
  const drop = find("drop");
  drop.addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => { event.preventDefault(); drop.classList.remove("over"); takeFile(event.dataTransfer.files[0]); });
  for (const id of ["bins", "drop-missing"]) find(id).addEventListener("change", () => chosen("useful"));
  find("alpha").addEventListener("input", () => {
    state.alpha = state.alphas[Number(find("alpha").value)];
    spread();
    moved();
    quietly(ensureCurve);
  });
  find("epsilon").addEventListener("input", () => { state.epsilon = exact(Number(find("epsilon").value)); moved(); });
  find("keep").addEventListener("submit", (event) => quietly(() => keep(event)));
  find("typed").addEventListener("change", typed);
  for (const radio of document.querySelectorAll("input[name=who]"))
    radio.addEventListener("change", () => { state.everybody = radio.value === "everybody"; moved(); });
  find("pin-a").addEventListener("click", () => pin("A"));
  find("pin-b").addEventListener("click", () => pin("B"));
}

let resized = null;
new ResizeObserver(() => { cancelAnimationFrame(resized); resized = requestAnimationFrame(markCurve); }).observe(find("curve-card"));

async function start() {
  const known = await get("state");
  state.alphas = known.alphas;
  find("alpha").max = known.alphas.length - 1;
  find("alpha").value = known.alphas.indexOf(state.alpha);
  wire();
  document.documentElement.dataset.ready = "yes";
  performance.mark("ready");
  if (known.table && known.look) await opened(async () => ({ job: known.look }), known.table.name);
}

quietly(start);
