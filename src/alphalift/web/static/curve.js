// The certified band over all epsilons, and below it what the rarest group may gain at each.
import { draw, downPercent, upPercent } from "./make.js";

const LEFT = 46, RIGHT = 14, TOP = 14, TALL = 210, GAP = 34, LOW = 90, BOTTOM = 44, LEAST = 280, MOST = 900, NARROW = 420;
const HEIGHT = TOP + TALL + GAP + LOW + BOTTOM;

export function drawCurve(place, drawn, { end, epsilon, useful, pins, group }) {
  const WIDE = Math.max(LEAST, Math.min(place.clientWidth || LEAST, MOST));
  const x = (value) => LEFT + (WIDE - LEFT - RIGHT) * Math.min(value / (end || 1), 1);
  const y = (share) => TOP + TALL * (1 - share);
  const most = Math.max(...drawn.gain, 1.01);
  const low = TOP + TALL + GAP;
  const z = (gain) => low + LOW * (1 - (gain - 1) / (most - 1));
  const line = (values, at) => values.map((value, i) => `${x(drawn.epsilon[i]).toFixed(1)},${at(value).toFixed(1)}`);
  const band = [...line(drawn.upper, y), ...line(drawn.lower, y).reverse()].join(" ");
  const marks = [{ epsilon, name: "", kind: "now" }, ...pins];
  const picture = draw("svg", { viewBox: `0 0 ${WIDE} ${HEIGHT}`, width: WIDE, height: HEIGHT, role: "img", "aria-label": said(drawn, useful) },
    [0, 0.25, 0.5, 0.75, 1].map((share) => [
      draw("line", { class: "grid", x1: LEFT, x2: WIDE - RIGHT, y1: y(share), y2: y(share) }),
      draw("text", { x: LEFT - 8, y: y(share) + 4, "text-anchor": "end" }, `${share * 100}%`),
    ]).flat(),
    draw("polygon", { class: "band", points: band }),
    draw("polyline", { class: "upper", points: line(drawn.upper, y).join(" ") }),
    draw("polyline", { class: "lower", points: line(drawn.lower, y).join(" ") }),
    [1, most].map((gain) => [
      draw("line", { class: "grid", x1: LEFT, x2: WIDE - RIGHT, y1: z(gain), y2: z(gain) }),
      draw("text", { x: LEFT - 8, y: z(gain) + 4, "text-anchor": "end" }, `${gain.toFixed(gain < 10 ? 1 : 0)} ×`),
    ]).flat(),
    draw("polyline", { class: "gain", points: line(drawn.gain, z).join(" ") }),
    draw("text", { class: "title", x: LEFT, y: low - 10 }, group),
    ticks(end).map((value) =>
      draw("text", { x: x(value), y: low + LOW + 18, "text-anchor": "middle" }, String(Number(value.toPrecision(6))))),
    draw("text", { x: LEFT, y: HEIGHT - 6 }, "← privacy"),
    draw("text", { x: (LEFT + WIDE - RIGHT) / 2, y: HEIGHT - 6, "text-anchor": "middle" }, WIDE < NARROW ? "ε" : "ε, what may be told"),
    draw("text", { x: WIDE - RIGHT, y: HEIGHT - 6, "text-anchor": "end" }, "usefulness →"),
    marks.map((own) => mark(own, x, y, low, WIDE)),
  );
  place.replaceChildren(picture);
}

function mark(own, x, y, low, wide) {
  const place = x(Number(own.epsilon));
  const parts = [draw("line", { class: `mark ${own.kind}`, x1: place, x2: place, y1: TOP, y2: low + LOW })];
  if (own.kept !== undefined) parts.push(draw("circle", { class: `dot ${own.kind}`, cx: place, cy: y(own.kept), r: 5 }));
  if (own.name) parts.push(draw("text", { class: `name ${own.kind}`, x: place + (place > wide - 30 ? -14 : 5), y: TOP + TALL - 8 }, own.name));
  return draw("g", {}, parts);
}

function ticks(end) {
  if (!(end > 0)) return [0];
  const rough = end / 5, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((own) => own * power).find((own) => own >= rough);
  return Array.from({ length: Math.floor(end / step + 1e-9) + 1 }, (_, i) => i * step);
}

function said(drawn, useful) {
  const places = [0.25, 0.5, 0.75].map((share) => Math.round(share * (drawn.epsilon.length - 1)));
  const parts = places.map((i) => `at epsilon ${drawn.epsilon[i].toFixed(3)} ${downPercent(drawn.lower[i])} to ${upPercent(drawn.upper[i])}`);
  return `What is kept of ${useful}, from epsilon 0 on, rising: ${parts.join(", ")}.`;
}
