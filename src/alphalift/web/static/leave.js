// What leaves the page: the released table, files, and the commands that do the same.
import { follow, get, post } from "./ask.js";
import { make, show, working } from "./make.js";

const link = (number, name, text, why, kind = "") =>
  make("li", {}, make("a", { href: `/api/files/${number}/${name}`, download: name, class: "file" }, text), " ", make("span", { class: `quiet ${kind}` }, why));

const KEYED = "Under a key that is made for this page every record has one output, the same whenever it is released again. Ids leave as pseudonyms.";
const ONCE = "Every record has an output of fresh randomness. A second one would tell more about the same people: draw once, and hand on that table alone.";

export class Leave {
  constructor(place, { trouble, news }) {
    Object.assign(this, { place, trouble, news, number: 0, names: [], id: null });
  }

  // A design is there, of a table with these columns besides the chosen ones.
  async open(number, names) {
    this.number = number;
    const choice = this.id !== null && names.includes(this.id) ? this.id : guessed(names);
    this.select = make("select", { id: "record-id", "aria-describedby": "id-help" },
      make("option", { value: "?" }, "choose a column"), names.map((name) => make("option", { value: `=${name}` }, name)), make("option", { value: "" }, "none: draw once, without a key"));
    this.select.value = choice === null ? "?" : `=${choice}`;
    const help = make("p", { class: "quiet", id: "id-help" }), button = make("button", { type: "button", class: "main", id: "release", onclick: () => this.#release() }, "Release the table");
    const chosen = () => {
      button.disabled = this.select.value === "?";
      help.textContent = this.select.value ? KEYED : ONCE;
    };
    this.select.addEventListener("change", () => { this.id = this.select.value.startsWith("=") ? this.select.value.slice(1) : null; chosen(); });
    chosen();
    this.again = make("input", { type: "checkbox", id: "again" });
    this.busy = make("div", { class: "working", hidden: true });
    this.reporting = make("div", { class: "working", hidden: true });
    this.done = make("div", { class: "done" });
    this.files = make("ul", { class: "files" }, link(number, "mechanism.json", "Mechanism", "has the table's counts: as private as they are", "private"));
    this.same = make("div", {});
    this.place.replaceChildren(
      make("h3", {}, "Release the table"),
      make("div", { class: "row" },
        make("label", { for: "record-id" }, "A record is identified by"), this.select,
        button),
      help,
      make("label", { class: "check" }, this.again, " Another release about the same people, whatever all of them tell together"),
      this.busy, this.done,
      make("h3", {}, "Download"), this.files,
      make("div", { class: "row" }, make("button", { type: "button", id: "report", onclick: () => this.#report() }, "Write the reports")), this.reporting,
      make("h3", {}, "The same without this page"), this.same,
    );
    await this.#tellSame();
  }

  async #tellSame() {
    const number = this.number, told = await get(`same/${number}`);
    if (number !== this.number) return;
    this.same.replaceChildren(
      copied("Commands", told.commands.join("\n"), `/api/files/${number}/design.sh`, "design.sh"),
      copied("Python", told.script, `/api/files/${number}/design.py`, "design.py"));
  }

  async #release() {
    const number = this.number;
    await this.#job(this.busy, "Releasing the table", "apply", { design: number, id: this.select.value.slice(1), new_release: this.again.checked }, (told) => {
      this.done.replaceChildren(
        make("p", {}, `Released ${told.rows.toLocaleString("en")} records; promise ${told.promise}.`),
        make("p", { class: "quiet" }, "Rows keep the table's order: who knows it knows whose rows they are; sort by something that tells nothing first."),
        ...told.notices.map((notice) => make("p", { class: "notice" }, notice)));
      const keyed = this.select.value ? [
        link(number, "release.key", "Key", "secret: who has it can draw every output again", "private"),
        link(number, "release.key.ledger", "Ledger", "what was released under the key; keep it beside the key, for the page forgets both", "private")] : [];
      this.files.replaceChildren(this.files.firstChild,
        link(number, "released.csv", "Released table", "to hand on"),
        link(number, "released.csv.codebook.json", "Codebook", "what outputs mean, for the receiver"),
        link(number, "released.csv.manifest.json", "Manifest", "what was done"), ...keyed);
      this.news("The table is released.");
      this.#tellSame();
    });
  }

  async #report() {
    const number = this.number;
    await this.#job(this.reporting, "Writing the reports", "report", { design: number }, () => {
      for (const own of this.files.querySelectorAll(".report")) own.remove();
      const both = [link(number, "report.html", "Report", "internal: has shares of the table", "private"), link(number, "public.html", "Public report", "the mechanism and its promise, for everybody")];
      both.forEach((own) => own.classList.add("report"));
      this.files.append(...both);
      this.news("The reports are written.");
    });
  }

  async #job(place, text, what, asked, done) {
    let busy = null;
    try {
      const { job } = await post(what, asked);
      busy = working(place, text, () => post("stop", { job }));
      const result = await follow(job, (own) => own.progress.notice && busy.say(own.progress.notice), () => this.number === asked.design);
      if (result) done(result);
    } catch (error) {
      this.trouble(error);
    } finally {
      busy?.end();
    }
  }
}

function guessed(names) {
  const found = names.find((name) => /(^|[_ ])id$/i.test(name));
  return found ?? null;
}

function copied(title, text, address, name) {
  const code = make("pre", { tabindex: "0", role: "region", "aria-label": title }, make("code", {}, text));
  const button = make("button", { type: "button", onclick: async () => {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  } }, "Copy");
  return make("div", { class: "same" },
    make("div", { class: "head" }, make("h4", {}, title), make("div", { class: "row" }, button, make("a", { href: address, download: name, class: "button" }, "Download"))), code);
}
