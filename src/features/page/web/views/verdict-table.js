import { html } from "../html.js";
import { linkTo } from "../live/hooks.js";
import { wordsOf } from "../parts/format.js";
import { sortedNodes, useMore } from "../parts/many.js";
import { Mark, ReasonLink } from "../parts/marks.js";

/** What a node is not asked for is no trouble: these reasons only say that it has another role, or is elsewhere. */
const otherRole = new Set(["wrong_role", "not_sync", "not_quorum", "not_async", "other_zone"]);

/** Whether a reason only says that a node has another role than the one that was asked for. */
export function isOtherRole(reason) {
  return otherRole.has(reason);
}

/** What each node is fit for: one row a node, one column a route, each no with its reason. */
export function VerdictTable({ cluster }) {
  const nodes = sortedNodes(cluster);
  const [most, more] = useMore(nodes.length, "verdicts");
  const routes = Object.keys(nodes[0]?.verdicts ?? {});
  if (routes.length === 0) return html`<p class="empty">No node is known.</p>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Verdicts of each node for each route">
      <table class="verdicts">
        <thead>
          <tr>
            <th scope="col">node</th>
            ${routes.map((route) => html`<th scope="col">/${route}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${nodes.slice(0, most).map(
            ({ node, verdicts, evidence }) =>
              html`<tr key=${node}>
                <th scope="row"><a href=${linkTo("clusters", cluster.cluster, "nodes", node)}>${node}</a></th>
                ${cellsOf(routes, verdicts).map(
                  ({ verdict, count, isAgain }) =>
                    html`<td colspan=${count}>
                      ${isAgain ? html`<${Again} verdict=${verdict} />` : html`<${Verdict} verdict=${verdict} evidence=${evidence} />`}
                    </td>`,
                )}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    ${more}`;
}

/**
 * The cells of a row: a reason is shown once. Routes beside each other that have the same one share a cell, and others
 * refer to it. What a node is fit for is said of each route.
 */
export function cellsOf(routes, verdicts) {
  const cells = [];
  for (const route of routes) {
    const verdict = verdicts[route];
    const last = cells.at(-1);
    if (verdict !== undefined && verdict !== "fit" && last?.verdict === verdict) last.count += 1;
    else {
      const isAgain = verdict !== undefined && verdict !== "fit" && cells.some((cell) => cell.verdict === verdict);
      cells.push({ verdict, count: 1, isAgain });
    }
  }
  return cells;
}

/** The verdicts of one node, each once with its routes: what it is fit for first, another role last. */
export function verdictGroups(verdicts) {
  const groups = new Map();
  for (const [route, verdict] of Object.entries(verdicts)) groups.set(verdict, [...(groups.get(verdict) ?? []), route]);
  return [...groups]
    .map(([verdict, routes]) => ({ verdict, routes }))
    .toSorted((one, other) => rankOf(one.verdict) - rankOf(other.verdict));
}

function rankOf(verdict) {
  if (verdict === "fit") return 0;
  return isOtherRole(verdict) ? 2 : 1;
}

/** A reason that another verdict of the row has shown: its mark, and its words for screen readers. */
function Again({ verdict }) {
  const text = wordsOf(verdict);
  const mark = isOtherRole(verdict) ? null : html`<${Mark} tone=${verdict === "drained" ? "idle" : "bad"} />`;
  return html`<span class="verdict none" title=${text}
    >${mark}<span class="ditto" aria-hidden="true">″</span><span class="sr">${text}</span></span
  >`;
}

/** What a node is fit for, or why not. */
export function Verdict({ verdict, evidence }) {
  if (verdict === undefined) return "–";
  if (verdict === "fit" && evidence === "last known")
    return html`<span class="verdict stale"><${Mark} tone="stale" />fit, last known</span>`;
  if (verdict === "fit") return html`<span class="verdict ok"><${Mark} tone="ok" />fit</span>`;
  if (isOtherRole(verdict))
    return html`<a class="verdict none" href=${linkTo("reasons", verdict)}>${wordsOf(verdict)}</a>`;
  const tone = verdict === "drained" ? "idle" : "bad";
  return html`<span class=${`verdict ${tone}`}><${Mark} tone=${tone} /><${ReasonLink} reason=${verdict} /></span>`;
}
