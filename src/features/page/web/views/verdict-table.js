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
                ${routes.map((route) => html`<td><${Verdict} verdict=${verdicts[route]} evidence=${evidence} /></td>`)}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    ${more}`;
}

function Verdict({ verdict, evidence }) {
  if (verdict === undefined) return "–";
  if (verdict === "fit" && evidence === "last known")
    return html`<span class="verdict stale"><${Mark} tone="stale" />fit, last known</span>`;
  if (verdict === "fit") return html`<span class="verdict ok"><${Mark} tone="ok" />fit</span>`;
  if (isOtherRole(verdict))
    return html`<a class="verdict none" href=${linkTo("reasons", verdict)}>${wordsOf(verdict)}</a>`;
  const tone = verdict === "drained" ? "idle" : "bad";
  return html`<span class=${`verdict ${tone}`}><${Mark} tone=${tone} /><${ReasonLink} reason=${verdict} /></span>`;
}
