// Elements, of HTML and of SVG. Texts become text and nothing else, wherever they come from.

const SVG = "http://www.w3.org/2000/svg";

function filled(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (name === "style") for (const [own, set] of Object.entries(value)) element.style.setProperty(own, set);
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export function make(tag, properties = {}, ...children) {
  return filled(document.createElement(tag), properties, children);
}

export function draw(tag, properties = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), properties, children);
}

export const find = (id) => document.getElementById(id);

export function show(element, shown = true) {
  element.hidden = !shown;
}

// Percentages with one decimal, rounded down or up: what is kept at least, and at most.
export const downPercent = (share) => `${(Math.floor(share * 1000 + 1e-9) / 10).toFixed(1)}%`;
export const upPercent = (share) => `${Math.min(Math.ceil(share * 1000 - 1e-9) / 10, 100).toFixed(1)}%`;
export const range = (lower, upper) =>
  downPercent(lower) === upPercent(upper) ? downPercent(lower) : `${downPercent(lower)} – ${upPercent(upper)}`;

// A line on what is being done, for how long, and a button that ends it.
export function working(place, text, stop) {
  const told = make("span", {}, text);
  place.replaceChildren(make("span", { class: "spinner", "aria-hidden": "true" }), told);
  if (stop) place.append(make("button", { type: "button", class: "stop", onclick: stop }, "Stop"));
  show(place);
  const begun = performance.now();
  const seconds = make("span", { class: "quiet nowrap" });
  told.after(seconds);
  const clock = setInterval(() => {
    const passed = Math.floor((performance.now() - begun) / 1000);
    if (passed >= 1) seconds.textContent = `${passed} s`;
  }, 250);
  return {
    say: (next) => { if (told.textContent !== next) told.textContent = next; },
    end: () => {
      clearInterval(clock);
      if (!told.isConnected) return;
      const left = place.contains(document.activeElement) ? place.closest(".card")?.querySelector("h2") : null;
      show(place, false);
      place.replaceChildren();
      if (left) { left.tabIndex = -1; left.focus({ preventScroll: true }); }
    },
  };
}
