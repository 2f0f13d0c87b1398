import { html, useEffect, useState } from "../html.js";
import { useDocument } from "../live/hooks.js";
import { dataOf, wordsFor } from "../live/reading.js";
import { timeText, wordsOf } from "../parts/format.js";
import { sortedNodes, useMore } from "../parts/many.js";

/** How far the strips reach back, in ms. */
const spanMs = 15 * 60_000;
/** Changes within this time are one segment, in ms: a few pixels. */
const leastMs = spanMs / 400;
/** How many segments the description for readers of the screen names. */
const saidMax = 20;

/** For each node a strip of the last 15 minutes: when it was fit as primary, as replica, or neither. */
export function Strips({ cluster, store }) {
  const untilMs = store.wallMs();
  const knownMs = store.knownUntilMs();
  const nodes = sortedNodes(cluster);
  const [most, more] = useMore(nodes.length, "strips");
  // Before a strip is known, nothing of it is "not recorded".
  const [isAnyKnown, setIsAnyKnown] = useState(false);
  return html`<div class="strips">
    ${nodes
      .slice(0, most)
      .map(
        ({ node, verdicts }) =>
          html`<${Strip}
            key=${node}
            cluster=${cluster.cluster}
            node=${node}
            untilMs=${untilMs}
            knownMs=${knownMs}
            onKnown=${() => setIsAnyKnown(true)}
            state=${`${verdicts.primary} ${verdicts.replica} ${store.missed}`}
          />`,
      )}
    ${more}
    <p class="strip-axis">
      <span>${timeText(untilMs - spanMs)}</span><span>${store.isPast ? timeText(untilMs) : "now"}</span>
    </p>
    <p class="legend">
      <span class="seg primary"></span> fit as primary <span class="seg replica"></span> fit as replica
      <span class="seg unfit"></span> not fit ${isAnyKnown ? html`<span class="seg unseen"></span> not recorded` : null}
    </p>
  </div>`;
}

function Strip({ cluster, node, untilMs, knownMs, state, onKnown }) {
  const path = `clusters/${encodeURIComponent(cluster)}/nodes/${encodeURIComponent(node)}/verdicts`;
  const reading = useDocument(path, state);
  useEffect(() => {
    if (reading.kind === "known") onKnown();
  }, [reading.kind]);
  const words = wordsFor(reading, "what was");
  const segments = segmentsOf(dataOf(reading)?.changes ?? [], untilMs, knownMs);
  const said = segments
    .slice(-saidMax)
    .map(({ kind, fromMs }) => `${timeText(fromMs)} ${kind}`)
    .join(", ");
  return html`<div class="strip">
    <span class="strip-name" title=${node}>${node}</span>
    <div
      class="strip-bar"
      role="img"
      data-reading=${reading.kind}
      title=${words}
      aria-label=${`${node}: ${[words, said || (words === null ? "not recorded" : "")].filter(Boolean).join(" ")}`}
    >
      ${words === null ? null : html`<span class="strip-words">${words}</span>`}
      ${segments.map(
        ({ kind, fromMs, toMs, title }) =>
          html`<span
            class=${`seg ${kind}`}
            title=${title}
            style=${{ left: `${share(fromMs, untilMs)}%`, width: `${share(toMs, untilMs) - share(fromMs, untilMs)}%` }}
          ></span>`,
      )}
    </div>
  </div>`;
}

function share(atMs, untilMs) {
  return (100 * Math.max(0, atMs - (untilMs - spanMs))) / spanMs;
}

/**
 * The time between two changes, as it was. The last one reaches to `knownMs`: what came after is not known. Changes too
 * close to be told apart are one segment, which says how many they are.
 */
export function segmentsOf(changes, untilMs, knownMs = untilMs) {
  const points = changes.map(({ at, after, failure }) => ({ fromMs: Date.parse(at), after, failure }));
  const segments = [];
  for (const [at, { fromMs, after, failure }] of points.entries()) {
    const toMs = points[at + 1]?.fromMs ?? Math.max(fromMs, knownMs);
    if (toMs <= untilMs - spanMs) continue;
    const kind = after.primary === "fit" ? "primary" : after.replica === "fit" ? "replica" : "unfit";
    const last = segments.at(-1);
    if (last !== undefined && toMs - last.fromMs < leastMs) {
      // What was not fit is not hidden by what was.
      if (kind === "unfit") Object.assign(last, { kind, after, failure });
      Object.assign(last, { toMs, count: last.count + 1 });
    } else segments.push({ kind, fromMs, toMs, after, failure, count: 1 });
  }
  return segments.map(({ kind, fromMs, toMs, ...why }) => ({ kind, fromMs, toMs, title: titleOf(kind, fromMs, why) }));
}

function titleOf(kind, fromMs, { after, failure, count }) {
  const why = kind === "unfit" ? wordsOf(after.role === "primary" ? after.primary : after.replica) : `fit as ${kind}`;
  const many = count > 1 ? `${count} changes, ` : "";
  return `${timeText(fromMs)}: ${many}${why}${failure === null ? "" : ` (${failure})`}`;
}
