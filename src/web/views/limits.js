import { html } from "../html.js";
import { useDocument } from "../live/hooks.js";
import { compareNames } from "../parts/condition.js";
import { comparison, limitText, mergedLimits } from "../parts/limits.js";
import { Mark } from "../parts/marks.js";

/** How often the limits are read again, in ms: balancers seldom change what they request. */
const readMs = 15_000;
/** How many limits the card of a node has room for. */
const shownMax = 3;

const tones = { within: "ok", over: "bad", unknown: "warn" };

/** The limits for the lag of a cluster's nodes; none in a recorded incident. */
export function useLimits(cluster, store) {
  const path = store.isPast ? null : `clusters/${encodeURIComponent(cluster)}/limits`;
  const { data } = useDocument(path, Math.floor(store.wallMs() / readMs));
  return mergedLimits(data?.limits ?? []);
}

/** How the lag of one node compares with each limit, or with the first ones. */
export function NodeLimits({ node, limits, most = shownMax }) {
  // What is not known of a node that does not answer has a reason of its own.
  if (limits.length === 0 || (node.lag_bytes === null && node.reason !== null)) return null;
  const more = limits.length - most;
  return html`<ul class="limits" aria-label="Limits">
    ${limits.slice(0, most).map((limit) => {
      const word = comparison(node, limit);
      return html`<li key=${limit.key}>
        <${Mark} tone=${tones[word]} /><b class=${word}>${word}</b> ${limitText(limit)} <small>${limit.target}</small>
      </li>`;
    })}
    ${more > 0 ? html`<li><small>and ${more} more, below</small></li>` : null}
  </ul>`;
}

/** Every limit, who sets it, and the nodes that are over it. */
export function LimitTable({ cluster, limits }) {
  if (limits.length === 0)
    return html`<p class="note">
      No check of this cluster requested a limit for lag in the last 10 minutes, and none is configured.
    </p>`;
  const nodes = cluster.nodes.filter(({ node }) => node !== cluster.leader);
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Limits for lag">
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
          const over = nodes.filter((node) => comparison(node, limit) === "over").map(({ node }) => node);
          const unknown = nodes.filter((node) => comparison(node, limit) === "unknown").map(({ node }) => node);
          const tone = over.length > 0 ? "bad" : unknown.length > 0 ? "warn" : "ok";
          return html`<tr key=${limit.key}>
            <th scope="row">${limitText(limit)}</th>
            <td>${limit.target}</td>
            <td class="set-by">${limit.setBy.join(", ")}</td>
            <td>
              <${Mark} tone=${tone} />${namesText(over)}${unknown.length > 0 ? `; unknown: ${namesText(unknown)}` : ""}
            </td>
          </tr>`;
        })}
      </tbody>
    </table>
  </div>`;
}

function namesText(names) {
  return names.length === 0 ? "none" : names.toSorted(compareNames).join(", ");
}
