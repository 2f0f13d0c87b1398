import { html } from "../html.js";
import { useDocument } from "../live/hooks.js";
import { dataOf, wordsFor } from "../live/reading.js";
import { isStale } from "../parts/condition.js";
import { comparison, exceededText, limitText, mergedLimits, pastLimitsText } from "../parts/limits.js";
import { namesText } from "../parts/many.js";
import { countText } from "../parts/format.js";
import { Mark, ReasonLink } from "../parts/marks.js";

/** How often the limits are read again, in ms: balancers seldom change what they request. */
const readMs = 15_000;
/** How many limits the card of a node has room for. */
const shownMax = 3;

const tones = { within: "ok", over: "bad", unknown: "stale" };

/**
 * The limits for the lag of a cluster's nodes.
 * @returns `{ limits, note, isKnown }`: those that are known, merged; what has to be known about them, in words, or null
 */
export function useLimits(cluster, store) {
  const path = store.isPast ? null : `clusters/${encodeURIComponent(cluster)}/limits`;
  const reading = useDocument(path, Math.floor(store.wallMs() / readMs));
  if (store.isPast)
    return { limits: mergedLimits(store.limits.limits), note: pastLimitsText(store.limits), isKnown: true };
  const limits = mergedLimits(dataOf(reading)?.limits ?? []);
  const words = wordsFor(reading, "limits for lag");
  return { limits, note: words ?? (limits.length === 0 ? noLimitText : null), isKnown: words === null };
}

const noLimitText =
  "No check of this cluster requested a limit for lag in the last 10 minutes, and none is configured.";

/** How the lag of one node compares with each limit, or with the first ones. */
export function NodeLimits({ node, limits, most = shownMax }) {
  // What is not known of a node that does not answer has a reason of its own.
  if (limits.length === 0 || (node.lag_bytes === null && node.reason !== null && !isStale(node))) return null;
  const more = limits.length - most;
  return html`<ul class="limits" aria-label="Limits">
    ${limits.slice(0, most).map((limit) => {
      const word = comparison(node, limit);
      return html`<li key=${limit.key}>
        <${Mark} tone=${tones[word]} /><b class=${word}>${word}</b>${" "}
        ${word === "over" ? exceededText(node, limit) : limitText(limit)} <small>${limit.target}</small>
      </li>`;
    })}
    ${more > 0 ? html`<li><small>and ${more} more, below</small></li>` : null}
  </ul>`;
}

/** What balancers get: in how many of their checks with a limit for lag a node is fit, and which refuse it, and why. */
export function BalancerChecks({ node: { asked = 0, refused = [], reason } }) {
  if (asked === 0 || reason !== null) return null;
  return html`<ul class="limits" aria-label="Checks of balancers">
    <li>
      <${Mark}
        tone=${refused.length === 0 ? "ok" : refused.length < asked ? "warn" : "bad"}
      />${`fit in ${asked - refused.length} of ${countText(asked, "check")}`}
    </li>
    ${refused.map(
      ({ check, pool, reason: why, detail }) =>
        html`<li key=${check} class="refused" title=${check}>
          refused ${pool ? `in ${pool}` : check}: <${ReasonLink} reason=${why} /> ${detail}
        </li>`,
    )}
  </ul>`;
}

/** Every limit, who sets it, and the nodes that are over it. */
export function LimitTable({ cluster, limits: { limits, note } }) {
  const said = html`<${LimitNote} note=${note} />`;
  if (limits.length === 0) return said;
  const nodes = cluster.nodes.filter(({ node }) => node !== cluster.leader);
  return html`${said}
    <div class="scroll" tabindex="0" role="region" aria-label="Limits for lag">
      <table class="rules">
        <thead>
          <tr>
            <th scope="col">limit</th>
            <th scope="col">for</th>
            <th scope="col">set by</th>
            <th scope="col">replicas over it</th>
          </tr>
        </thead>
        <tbody>
          ${limits.map((limit) => {
            const isPlain = limit.lag_bytes === null || limit.lag_ms === null;
            const over = nodes
              .filter((node) => comparison(node, limit) === "over")
              .map((node) => (isPlain ? node.node : `${node.node} (${exceededText(node, limit)})`));
            const unknown = nodes.filter((node) => comparison(node, limit) === "unknown").map(({ node }) => node);
            const tone = over.length > 0 ? "bad" : unknown.length > 0 ? "stale" : "ok";
            return html`<tr key=${limit.key}>
              <th scope="row">${limitText(limit)}</th>
              <td>${limit.target}</td>
              <td class="set-by">${limit.setBy.join(", ")}</td>
              <td>
                <${Mark}
                  tone=${tone}
                />${namesText(over)}${unknown.length > 0 ? `; unknown: ${namesText(unknown)}` : ""}
              </td>
            </tr>`;
          })}
        </tbody>
      </table>
    </div>`;
}

/** What has to be known about the limits. */
export function LimitNote({ note }) {
  return note === null ? null : html`<p class="note">${note}</p>`;
}
