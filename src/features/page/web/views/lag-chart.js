import { html, useEffect, useLayoutEffect, useRef, useState } from "../html.js";
import { compareNames, isStale } from "../parts/condition.js";
import { bytesText, timeText, wordsOf } from "../parts/format.js";
import uPlot from "../vendor/uplot.js";

/** Colours that stay apart for colour-blind readers (Okabe and Ito), each with a dash of its own. */
const strokes = {
  light: ["#0072b2", "#c04a00", "#00775b", "#a94f83", "#8f6400", "#3a3a3a"],
  dark: ["#56b4e9", "#f0a13a", "#3fd0a4", "#e39bc4", "#f0e442", "#d5dde4"],
};
const dashes = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 5], [1, 4]];
const linesMax = dashes.length;
const height = 200;
/** How many nodes the description for readers of the screen names. */
const saidMax = 20;

/**
 * The lag of each replica, with events as vertical lines and limits as horizontal ones.
 * @param samples node -> `[wall ms, bytes]` in the order of time; `past` what was sampled before them: `{ at, nodes }`;
 *   `time` what is shown: `{ fromMs, toMs }` since the epoch; `isKnown` whether the past is
 */
export function LagChart({ cluster, samples: recent, past = null, isKnown, events, time, limits }) {
  const scheme = useScheme();
  const box = useRef(null);
  const chart = useRef(null);
  const { nodes, leader } = cluster;
  const samples = withPast(recent, past, leader);
  const names = [...samples.keys()].sort(compareNames).slice(0, linesMax);
  const shownRef = useRef(null);
  shownRef.current = { events, time, limits };
  const data = alignedData(names, samples);
  useEffect(() => {
    const element = box.current;
    if (element === null || names.length === 0) return undefined;
    const plot = new uPlot(optionsOf(names, element, { shownRef, scheme }), data, element);
    chart.current = plot;
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
      chart.current = null;
    };
  }, [names.join("\n"), scheme]);
  useEffect(() => chart.current?.setData(data));
  const shown = nodes.filter(({ node }) => node !== leader);
  const said = shown
    .slice(0, saidMax)
    .map((node) => `${node.node} ${isStale(node) ? "unknown" : bytesText(node.lag_bytes)}`)
    .join(", ");
  const isEmpty = names.length === 0;
  return html`<div
      class=${isEmpty ? "chart-empty" : "chart"}
      role="img"
      aria-label=${`Lag now: ${said || "no replica"}`}
      ref=${box}
    ></div>
    ${
      !isKnown
        ? null
        : isEmpty
          ? html`<p class="empty">No lag is recorded.</p>`
          : html`<p class="note">
              As far as it was
              recorded${names.length < shown.length ? `, for ${names.length} of ${shown.length} replicas` : ""}.
              ${events.length > 0 ? " Vertical lines are events." : ""}
            </p>`
    }`;
}

/** Puts the samples of the past before those that were received since. */
export function withPast(recent, past, leader) {
  if (past === null) return recent;
  const samples = new Map(recent);
  for (const [node, lags] of Object.entries(past.nodes)) {
    const own = recent.get(node) ?? [];
    if (own.length === 0 && (node === leader || lags.every((lag) => lag === null))) continue;
    const since = own[0]?.[0] ?? Infinity;
    const before = past.at.map((at, index) => [at, lags[index] ?? null]).filter(([at]) => at < since);
    samples.set(node, [...before, ...own]);
  }
  return samples;
}

/** One time axis for all nodes. A time without a sample of a node is no gap; an unknown lag is. */
export function alignedData(names, samples) {
  const times = [...new Set(names.flatMap((name) => samples.get(name).map(([at]) => at)))].sort(
    (one, other) => one - other,
  );
  const lines = names.map((name) => {
    const known = new Map(samples.get(name));
    return times.map((at) => (known.has(at) ? known.get(at) : undefined));
  });
  return [times.map((at) => at / 1_000), ...lines];
}

function useScheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const [isDark, setIsDark] = useState(dark.matches);
  useLayoutEffect(() => {
    const onChange = () => setIsDark(dark.matches);
    dark.addEventListener("change", onChange);
    return () => dark.removeEventListener("change", onChange);
  }, []);
  return isDark ? "dark" : "light";
}

function optionsOf(names, element, { shownRef, scheme }) {
  const style = getComputedStyle(element);
  const [text, grid] = [style.getPropertyValue("--muted"), style.getPropertyValue("--line")];
  const axis = { stroke: text, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 } };
  return {
    width: element.clientWidth,
    height,
    padding: [24, null, null, null],
    legend: { live: false },
    cursor: { y: false },
    scales: {
      x: { range: () => [shownRef.current.time.fromMs / 1_000, shownRef.current.time.toMs / 1_000] },
      y: { range: (_, __, most) => [0, topOf(most, shownRef.current.limits)] },
    },
    axes: [
      {
        ...axis,
        space: 90,
        values: (_, values) => values.map((at) => axisText(at, shownRef.current.time)),
        incrs: secondIncrements,
      },
      { ...axis, size: 64, values: (_, values) => values.map(bytesText), incrs: binaryIncrements },
    ],
    series: [
      { value: "{HH}:{mm}:{ss}" },
      ...names.map((label, at) => ({
        label,
        stroke: strokes[scheme][at],
        dash: dashes[at],
        width: 2,
        points: { show: false },
      })),
    ],
    hooks: { draw: [(plot) => drawOver(plot, shownRef.current, text)] },
  };
}

/** The least upper end of the axis, in bytes: less than one flush of WAL is no slope. */
const leastBytes = 32 * 1024;
/** A limit that is at most so many times as high as the data is within the axis. */
const nearTimes = 3;
/** The room above it, as a multiple: for the words of the limits above the axis. */
const roomTimes = 1.4;

/** The upper end of the axis, in bytes: that of the data, with the limits that are near. Others are at the edge. */
export function topOf(most, limits) {
  const top = Math.max(leastBytes, (most ?? 0) * 1.15);
  const near = limits.flatMap(({ lag_bytes: bytes }) =>
    bytes !== null && bytes <= nearTimes * top ? [bytes * roomTimes] : [],
  );
  return Math.ceil(Math.max(top, ...near));
}
const secondIncrements = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 14_400, 43_200, 86_400];
const binaryIncrements = Array.from({ length: 40 }, (_, at) => 2 ** (at + 8));

/** The time of day, to the second in a short time only; the day where a long time has midnight. */
function axisText(seconds, { fromMs, toMs }) {
  const at = new Date(seconds * 1_000);
  const isMidnight = at.getHours() === 0 && at.getMinutes() === 0;
  if (isMidnight && toMs - fromMs > 12 * 3_600_000)
    return at.toLocaleDateString([], { month: "short", day: "numeric" });
  const short = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  return toMs - fromMs > 1_800_000 ? at.toLocaleTimeString([], short) : timeText(at);
}

function drawOver(plot, { events, limits }, colour) {
  const { ctx } = plot;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.fillStyle = colour;
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  ctx.setLineDash([2, 4]);
  drawEvents(plot, events);
  ctx.setLineDash([12, 4]);
  drawLimits(plot, limits);
  ctx.restore();
}

/** Each event has its line, and its name above the chart where there is room for it. */
function drawEvents({ ctx, bbox, valToPos }, events) {
  const byPixel = new Map();
  const right = bbox.left + bbox.width;
  for (const { at, kind, severity } of events) {
    const x = Math.round(valToPos(Date.parse(at) / 1_000, "x", true));
    const known = byPixel.get(x);
    // Events at the same pixel have one line, with the name of the worst.
    if (x < bbox.left || x > right || rankOf(known) > rankOf({ severity })) continue;
    byPixel.set(x, { x, severity, text: wordsOf(kind), width: ctx.measureText(wordsOf(kind)).width });
  }
  const marks = [...byPixel.values()];
  for (const { x } of marks) line(ctx, [x, bbox.top], [x, bbox.top + bbox.height]);
  for (const { from, text } of placedLabels(marks, { left: bbox.left, right, gap: 8 * devicePixelRatio }))
    ctx.fillText(text, from, bbox.top - 6 * devicePixelRatio);
}

const severities = ["info", "warning", "error"];

function rankOf(mark) {
  return severities.indexOf(mark?.severity);
}

/**
 * Places the names of events: the worst and newest first, each beside its line where it overlaps no other, else left
 * out.
 * @param marks `{ x, width, text, severity }`
 * @returns `{ from, text }`
 */
export function placedLabels(marks, { left, right, gap }) {
  const placed = [];
  const isFree = (from, to) =>
    from >= left && to <= right && placed.every((other) => to + gap <= other.from || from >= other.to + gap);
  for (const { x, width, text } of marks.toSorted((one, other) => rankOf(other) - rankOf(one) || other.x - one.x)) {
    const from = [x + gap / 2, x - gap / 2 - width].find((start) => isFree(start, start + width));
    if (from !== undefined) placed.push({ from, to: from + width, text });
  }
  return placed.map(({ from, text }) => ({ from, text }));
}

/** The limits in bytes. Equal ones have one line and one text; those above the axis one line at its edge. */
function drawLimits({ ctx, bbox, valToPos, scales }, limits) {
  const lineHeight = 14 * devicePixelRatio;
  let freeFrom = bbox.top;
  for (const { bytes, text } of limitLines(limits, scales.y.max)) {
    const y = bytes === null ? bbox.top : valToPos(bytes, "y", true);
    line(ctx, [bbox.left, y], [bbox.left + bbox.width, y]);
    // At the left, and below each other: the newest lag is at the right.
    const textAt = Math.max(y, freeFrom) + lineHeight;
    ctx.fillText(text, bbox.left + 4 * devicePixelRatio, textAt, bbox.width - 8 * devicePixelRatio);
    freeFrom = textAt;
  }
}

/** The lines of the limits, from above: `{ bytes, text }`; `bytes` is null for those above the axis. */
export function limitLines(limits, top) {
  const targets = new Map();
  for (const { lag_bytes: bytes, target } of limits)
    if (bytes !== null) targets.set(bytes, [...(targets.get(bytes) ?? []), target]);
  const sorted = [...targets].toSorted(([one], [other]) => other - one);
  const above = sorted.filter(([bytes]) => bytes > top);
  const within = sorted.filter(([bytes]) => bytes <= top);
  return [
    ...(above.length === 0
      ? []
      : [{ bytes: null, text: `above: limit ${above.toReversed().map(limitWords).join("; ")}` }]),
    ...within.map((each) => ({ bytes: each[0], text: `limit ${limitWords(each)}` })),
  ];
}

function limitWords([bytes, of]) {
  return `${bytesText(bytes)} of ${of.join(", ")}`;
}

function line(ctx, [fromX, fromY], [toX, toY]) {
  ctx.beginPath();
  ctx.moveTo(fromX, fromY);
  ctx.lineTo(toX, toY);
  ctx.stroke();
}
