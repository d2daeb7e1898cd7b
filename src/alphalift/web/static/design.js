// A design as it is: figures, the mechanism as a heat map, every output and every group against the promise, and its proof.
import { make } from "./make.js";

export function showDesign(place, own) {
  place.replaceChildren(
    figures([
      [own.kept_words, `of the information in ${own.useful} is kept`],
      [`≤ ${own.gap_words}`, "of it lies between this design and what no mechanism exceeds"],
      [`${own.most} ×`, `as likely is the most that a group becomes here: ${own.most_group}`],
      [`${own.verdicts.filter((one) => one.proven).length} of ${own.verdicts.length}`, "claims of its file are proven"],
    ]),
    make("p", { class: "lead" }, own.words.promise),
    make("h3", {}, "The mechanism"),
    make("p", { class: "quiet" }, `Each row is a released value: how often each value of ${own.useful} becomes it, P(y|x); then how many times as likely it makes each ${own.secret}.`),
    heat(own),
    make("h3", {}, `What each ${own.secret} may gain`),
    groups(own),
    make("details", {}, make("summary", {}, "In words"), ...sentences(own)),
    make("details", { class: "proof" }, make("summary", {}, "What is proven, and what is not"), proof(own)),
  );
}

export function figures(cards) {
  return make("dl", { class: "figures" }, cards.map(([number, what]) => make("div", {}, make("dd", {}, number), make("dt", {}, what))));
}

function heat(own) {
  const [outputs, values, secrets] = own.sizes;
  const head = make("tr", {},
    make("th", { scope: "col" }, "released value"),
    make("th", { scope: "col", class: "turned" }, make("span", {}, "how often")),
    own.x_labels.map((label) => make("th", { scope: "col", class: "turned" }, make("span", {}, label))),
    make("th", { class: "apart", "aria-hidden": "true" }),
    own.s_labels.map((label) => make("th", { scope: "col", class: "turned secret" }, make("span", {}, label))),
    make("th", { scope: "col", class: "turned" }, make("span", {}, "of the promise")),
  );
  const budget = Number(own.epsilon);
  const rows = own.y_labels.map((label, y) => make("tr", {},
    make("th", { scope: "row", title: label }, label),
    make("td", { class: "often" }, percent(own.p_y[y])),
    own.law[y].map((value) => cell(value, "blue", value, value >= 0.005 ? value.toFixed(2).replace("0.", ".") : "")),
    make("td", { class: "apart", "aria-hidden": "true" }),
    own.lifts[y].map((lift) => liftCell(lift)),
    make("td", { class: "spent" }, budget > 0 ? bar(own.spent[y] / budget, percent(own.spent[y] / budget)) : "–"),
  ));
  const left = [[outputs, own.y_labels.length, "outputs"], [values, own.x_labels.length, `values of ${own.useful}`], [secrets, own.s_labels.length, `values of ${own.secret}`]]
    .filter(([all, drawn]) => all > drawn).map(([all, drawn, what]) => `the ${drawn} most frequent of ${all} ${what}`);
  return make("div", {},
    make("div", { class: "wide heat", tabindex: "0", role: "region", "aria-label": "The mechanism and what it tells" },
      make("table", {}, make("thead", {}, head), make("tbody", {}, rows))),
    left.length ? make("p", { class: "quiet" }, `Shown: ${left.join(", ")}.`) : null);
}

function cell(value, colour, strength, text) {
  const strong = Math.min(1, Math.max(0, strength));
  return make("td", { class: `cell ${colour}`, style: { "--strength": strong.toFixed(3) } }, text);
}

// Orange is more likely, purple less, white as before.
function liftCell(lift) {
  const strength = lift >= 1 ? Math.min((lift - 1) / 1.5, 1) : 1 - lift;
  return cell(lift, lift >= 1 ? "orange" : "purple", strength, lift.toFixed(2));
}

const percent = (share) => (share > 0 && share < 0.001 ? "< 0.1%" : `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)}%`);

function bar(share, text) {
  return [make("span", { class: "bar", "aria-hidden": "true" }, make("span", { style: { width: `${Math.min(100 * share, 100)}%` } })), make("span", { class: "numbers" }, text)];
}

export function groups(own) {
  const most = Math.max(...own.groups.map((one) => one.allowed), 1);
  const place = (factor) => `${Math.min(100, 100 * factor / most)}%`;
  const rows = own.groups.map((one) => make("tr", {},
    make("th", { scope: "row" }, one.label),
    make("td", { class: "number" }, one.share),
    make("td", { class: "number" }, `${one.here_words} ×`),
    make("td", { class: "number" }, `${one.allowed_words} ×`),
    make("td", { class: "against", "aria-hidden": "true" },
      make("span", { class: "here", style: { width: place(one.here) } }), make("span", { class: "limit", style: { left: place(one.allowed) } })),
  ));
  return make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Groups against the promise" },
    make("table", { class: "groups" },
      make("caption", {}, "How many times as likely each becomes at most, whatever is released"),
      make("thead", {}, make("tr", {}, ["group", "share", "here", "promise allows", ""].map((text, i) =>
        make(text ? "th" : "td", { scope: text ? "col" : null, class: i && text ? "number" : "" }, text)))),
      make("tbody", {}, rows)));
}

function sentences(own) {
  const told = [own.words.designed, ...own.words.groups, ...own.words.meaning, own.words.status, ...own.words.population, own.words.open];
  const parts = [];
  for (const line of told) {
    if (line.startsWith("  - ")) {
      if (parts.at(-1)?.tagName !== "UL") parts.push(make("ul"));
      parts.at(-1).append(make("li", {}, line.slice(4)));
    } else parts.push(make("p", {}, line));
  }
  return parts;
}

function proof(own) {
  const rows = own.verdicts.map((one) => make("tr", {}, make("th", { scope: "row" }, one.claim), make("td", {}, one.proven ? "proven" : "NOT PROVEN"), make("td", {}, one.text)));
  return make("div", {},
    make("p", {}, own.words.proof), own.file ? make("p", {}, own.file) : null,
    make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Claims of the file" },
      make("table", { class: "facts" }, make("thead", {}, make("tr", {}, ["claim", "verdict", "what"].map((text) => make("th", { scope: "col" }, text)))), make("tbody", {}, rows))),
    make("p", { class: "quiet" }, "The checker that says so imports no solver. Prove it again: ", make("code", {}, "alphalift verify mechanism.json")),
    ...own.words.population.map((line) => make("p", {}, line)), make("p", {}, own.words.open));
}
