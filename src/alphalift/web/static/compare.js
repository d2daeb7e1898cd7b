// Two pinned designs side by side.
import { make } from "./make.js";
import { groups } from "./design.js";

export function showCompare(place, pins, { back }) {
  const both = ["A", "B"].filter((name) => pins[name]);
  const rows = [
    ["promise", (own) => `α = ${own.alpha === "inf" ? "∞" : own.alpha}, ε = ${own.epsilon}`],
    ["secret, useful", (own) => `${own.secret}, ${own.useful}`],
    ["kept", (own) => own.kept_words],
    ["gap at most", (own) => own.gap_words],
    ["most that a group becomes", (own) => `${own.most} × (${own.most_group})`],
    ["possible outputs", (own) => String(own.sizes[0])],
    ["who is in the table", (own) => (own.everybody ? "everybody" : "a random sample")],
    ["claims proven", (own) => `${own.verdicts.filter((one) => one.proven).length} of ${own.verdicts.length}`],
  ];
  const head = make("tr", {}, make("td"), both.map((name) => make("th", { scope: "col" }, make("span", { class: `pin ${name.toLowerCase()}` }, name))));
  place.replaceChildren(
    make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Pinned designs" },
      make("table", { class: "facts" }, make("thead", {}, head),
        make("tbody", {}, rows.map(([what, told]) => make("tr", {}, make("th", { scope: "row" }, what), both.map((name) => make("td", {}, told(pins[name])))))))),
    make("div", { class: "side" }, both.map((name) => make("div", {},
      make("h3", {}, make("span", { class: `pin ${name.toLowerCase()}` }, name), " ", `what each ${pins[name].secret} may gain`),
      groups(pins[name]),
      make("button", { type: "button", onclick: () => back(pins[name]) }, `Back to ${name}`)))),
    both.length < 2 ? make("p", { class: "quiet" }, "Move a slider and pin another design to compare them.") : "",
  );
}
