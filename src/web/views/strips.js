import { html } from "../html.js";
import { useDocument } from "../live/hooks.js";
import { compareNames } from "../parts/condition.js";
import { timeText, wordsOf } from "../parts/format.js";

/** How far the strips reach back, in ms. */
const spanMs = 15 * 60_000;

/** For each node a strip of the last 15 minutes: when it was fit as primary, as replica, or neither. */
export function Strips({ cluster, store }) {
  const untilMs = store.wallMs();
  const knownMs = store.knownUntilMs();
  const nodes = cluster.nodes.toSorted((one, other) => compareNames(one.node, other.node)).slice(0, 30);
  return html`<div class="strips">
    ${nodes.map(
      ({ node, verdicts }) =>
        html`<${Strip}
          key=${node}
          cluster=${cluster.cluster}
          node=${node}
          untilMs=${untilMs}
          knownMs=${knownMs}
          state=${`${verdicts.primary} ${verdicts.replica} ${store.missed}`}
        />`,
    )}
    <p class="strip-axis">
      <span>${timeText(untilMs - spanMs)}</span><span>${store.isPast ? timeText(untilMs) : "now"}</span>
    </p>
    <p class="legend">
      <span class="seg primary"></span> fit as primary <span class="seg replica"></span> fit as replica
      <span class="seg unfit"></span> not fit <span class="seg unseen"></span> not recorded
    </p>
  </div>`;
}

function Strip({ cluster, node, untilMs, knownMs, state }) {
  const path = `clusters/${encodeURIComponent(cluster)}/nodes/${encodeURIComponent(node)}/verdicts`;
  const { data } = useDocument(path, state);
  const segments = segmentsOf(data?.changes ?? [], untilMs, knownMs);
  const said = segments.map(({ kind, fromMs }) => `${timeText(fromMs)} ${kind}`).join(", ");
  return html`<div class="strip">
    <span class="strip-name" title=${node}>${node}</span>
    <div class="strip-bar" role="img" aria-label=${`${node}: ${said || "not recorded"}`}>
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

/** The time between two changes, as it was. The last one reaches to `knownMs`: what came after is not known. */
export function segmentsOf(changes, untilMs, knownMs = untilMs) {
  const points = changes.map(({ at, after, failure }) => ({ atMs: Date.parse(at), after, failure }));
  return points
    .map(({ atMs, after, failure }, at) => {
      const toMs = points[at + 1]?.atMs ?? Math.max(atMs, knownMs);
      const kind = after.primary === "fit" ? "primary" : after.replica === "fit" ? "replica" : "unfit";
      const why =
        kind === "unfit" ? wordsOf(after.role === "primary" ? after.primary : after.replica) : `fit as ${kind}`;
      return { kind, fromMs: atMs, toMs, title: `${timeText(atMs)}: ${why}${failure === null ? "" : ` (${failure})`}` };
    })
    .filter(({ toMs }) => toMs > untilMs - spanMs);
}
