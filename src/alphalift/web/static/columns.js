// The list of columns: what is secret, what is useful, and what each tells about the secret.
import { find, make } from "./make.js";

export class Columns {
  constructor(changed) {
    this.changed = changed;
    this.rows = new Map();
  }

  open(names, chosen = {}) {
    this.rows = new Map();
    for (const name of names) {
      const secret = this.#tick(name, "secret", (chosen.sensitive || []).includes(name));
      const useful = this.#tick(name, "useful", (chosen.useful || []).includes(name));
      secret.addEventListener("change", () => { if (secret.checked) useful.checked = false; this.changed("secret"); });
      useful.addEventListener("change", () => {
        const wasSecret = secret.checked;
        if (useful.checked) secret.checked = false;
        this.changed(wasSecret ? "secret" : "useful");
      });
      const told = make("td", { class: "told" });
      const row = make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, secret), make("td", {}, useful), told);
      this.rows.set(name, { row, secret, useful, told });
    }
    find("columns").replaceChildren(...[...this.rows.values()].map((own) => own.row));
  }

  #tick(name, what, checked) {
    const box = make("input", { type: "checkbox", "aria-label": `${name} is ${what}` });
    box.checked = checked;
    return box;
  }

  get sensitive() { return [...this.rows].filter(([, own]) => own.secret.checked).map(([name]) => name); }
  get useful() { return [...this.rows].filter(([, own]) => own.useful.checked).map(([name]) => name); }
  get names() { return [...this.rows.keys()]; }

  get untold() { return [...this.rows].filter(([, own]) => !own.told.hasChildNodes() && !own.secret.checked).map(([name]) => name); }

  forgetTold() {
    for (const own of this.rows.values()) own.told.replaceChildren();
  }

  tell(found) {
    for (const own of found) {
      const row = this.rows.get(own.column);
      if (row) row.told.replaceChildren(...told(own));
    }
  }

  // What tells most comes first; whoever is on a box stays there.
  sort(found) {
    const share = new Map(found.map((own) => [own.column, own.share ?? -1]));
    const active = document.activeElement;
    const order = [...this.rows].sort(([one, a], [other, b]) =>
      Number(b.secret.checked) - Number(a.secret.checked) || (share.get(other) ?? -2) - (share.get(one) ?? -2));
    for (const [, own] of order) find("columns").append(own.row);
    if (active && active.isConnected && find("columns").contains(active)) active.focus({ preventScroll: true });
  }
}

function told(own) {
  if (own.identifier) return [make("span", { class: "quiet" }, "an identifier, or needs bins")];
  if (own.unreadable) return [make("span", { class: "quiet" }, "cannot be counted")];
  const percent = own.share * 100;
  const words = percent < 0.1 ? "< 0.1%" : `${percent.toFixed(percent < 10 ? 1 : 0)}%`;
  const bar = make("span", { class: "bar", "aria-hidden": "true" }, make("span", { style: { width: `${Math.max(percent, 0.5)}%` } }));
  const lift = own.largest_lift < 100 ? own.largest_lift.toFixed(1) : own.largest_lift.toFixed(0);
  return [bar, make("span", { class: "numbers" }, `${words}, up to ${lift} ×`)];
}
