import { NodeActions } from "../actions/actions.js";
import { html } from "../html.js";
import { linkTo } from "../live/hooks.js";
import { shownStore } from "../live/source.js";
import { isStale, toneOf } from "../parts/condition.js";
import { flowOf } from "../parts/flow.js";
import { ageText, bytesText, durationText, lsnText, wordsOf } from "../parts/format.js";
import { useMore } from "../parts/many.js";
import { Badge, Mark, ReasonLink } from "../parts/marks.js";
import { isOld } from "./fleet-table.js";
import { BalancerChecks, NodeLimits } from "./limits.js";

/** The nodes as WAL flows: the leader, its replicas, theirs; apart from them the nodes that nobody sends WAL to. */
export function Topology({ cluster, sinceMs, limits }) {
  const total = cluster.nodes.length;
  const [most, more] = useMore(total, "nodes");
  const { trees, apart } = flowOf(cluster, most);
  const shared = { cluster, sinceMs, limits };
  return html`<section class="topology" aria-label="Nodes as WAL flows">
      ${
        apart.length > 0
          ? html`<h2 class="apart-title">Not in the WAL flow</h2>
              <ul class="apart">
                ${apart.slice(0, most).map(
                  (node) =>
                    html`<li key=${node.node}>
                      <${NodeCard} node=${node} ...${shared} isApart />
                    </li>`,
                )}
              </ul>`
          : null
      }
      ${trees.length > 0 ? html`<${Flow} trees=${trees} shared=${shared} isFirst />` : null}
    </section>
    ${more}`;
}

function Flow({ trees, shared, isFirst = false }) {
  return html`<ul class=${isFirst ? "flow" : null}>
    ${trees.map(
      ({ node, isDeeper, below }) =>
        html`<li key=${node.node}>
          <${NodeCard} node=${node} ...${shared} isDeeper=${isDeeper} />
          ${below.length > 0 ? html`<${Flow} trees=${below} shared=${shared} />` : null}
        </li>`,
    )}
  </ul>`;
}

function NodeCard({ node, cluster, sinceMs, limits, isApart = false, isDeeper = false }) {
  const { role, was, state, timeline, lag_bytes: lag, lag_ms: lagMs, reason, detail, warning } = node;
  const tone = toneOf(node);
  const isLeader = node.node === cluster.leader;
  const ageMs = node.age_ms === null ? null : node.age_ms + sinceMs;
  const stale = isStale(node);
  const known = stale ? "stale" : "";
  const isBehind = timeline !== null && cluster.timeline !== null && timeline !== cluster.timeline;
  return html`<article
    class=${`node ${tone} ${isLeader ? "leader" : ""} ${isApart ? "apart-node" : ""}`}
    aria-label=${`Node ${node.node}`}
  >
    <h2>
      <${Mark} tone=${tone} /><a href=${linkTo("clusters", cluster.cluster, "nodes", node.node)} title=${node.node}
        >${node.node}</a
      >
    </h2>
    <p class="role">
      ${was === null ? wordsOf(role ?? "never answered") : `was ${wordsOf(was)}`}${state !== null && state !== "unknown" ? html`, ${state}` : null}${isDeeper ? html`, from <b>${node.upstream}</b>` : null}${stale && node.evidence === "last known" ? html`, <span class="stale">last known</span>` : null}
    </p>
    <dl>
      ${
        isLeader
          ? html`<div>
              <dt>position</dt>
              <dd class=${known}>${lsnText(node.position)}</dd>
            </div>`
          : html`<div>
              <dt>lag</dt>
              <dd class=${known}>
                ${bytesText(lag)}${lagMs > 0 ? html` <small>${durationText(lagMs)}</small>` : null}
              </dd>
            </div>`
      }
      <div>
        <dt>timeline</dt>
        <dd class=${isBehind && !stale ? "old" : known}>${timeline ?? "–"}</dd>
      </div>
      <div>
        <dt>evidence</dt>
        <dd class=${isOld(ageMs) ? "age old" : "age"}>${ageText(ageMs)}</dd>
      </div>
    </dl>
    <${BalancerChecks} node=${node} />
    ${isLeader ? null : html`<${NodeLimits} node=${node} limits=${limits} />`}
    ${reason === null ? null : html`<p class="why"><${ReasonLink} reason=${reason} />${detail === null ? null : html` <span>${detail}</span>`}</p>`}
    ${warning === null || reason !== null ? null : html`<p class="why">${warning}</p>`}
    <${NodeMarks} node=${node} />
    ${shownStore().isPast ? null : html`<${NodeActions} cluster=${cluster} node=${node} />`}
  </article>`;
}

/** Tags, pending restarts, drains and the part in synchronous replication. */
export function NodeMarks({ node }) {
  const { tags, pending_restart: pending, scheduled_restart: planned, drain, sync_role: sync, unasked } = node;
  const set = ["nofailover", "noloadbalance", "nosync", "nostream"].filter((tag) => tags[tag] !== undefined);
  const badges = [
    ...(sync === null ? [] : [html`<${Badge}>${sync}<//>`]),
    ...set.map((tag) => html`<${Badge}>${tag}<//>`),
    ...(unasked === true ? [html`<${Badge} tone="warn">no balancer asks for it<//>`] : []),
    ...(pending ? [html`<${Badge} tone="warn">restart pending<//>`] : []),
    ...(planned === null ? [] : [html`<${Badge} title=${planned}>restart planned<//>`]),
    ...(drain === null
      ? []
      : [
          html`<${Badge} tone="idle" title=${drain.by === null ? "" : `by ${drain.by}`}
            >${drain.distrust ? "distrusted" : "drained"}: ${drain.reason}<//
          >`,
        ]),
  ];
  return badges.length === 0 ? null : html`<p class="badges">${badges}</p>`;
}
