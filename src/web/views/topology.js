import { NodeActions } from "../actions/actions.js";
import { html } from "../html.js";
import { linkTo } from "../live/hooks.js";
import { shownStore } from "../live/source.js";
import { compareNames, toneOf } from "../parts/condition.js";
import { ageText, bytesText, durationText, lsnText, wordsOf } from "../parts/format.js";
import { Badge, Mark, ReasonLink } from "../parts/marks.js";
import { isOld } from "./fleet-table.js";
import { NodeLimits } from "./limits.js";

/** The nodes as WAL flows: the leader, its replicas, theirs; apart from them the nodes that nobody sends WAL to. */
export function Topology({ cluster, sinceMs, limits }) {
  const { roots, apart, childrenOf } = flowOf(cluster);
  const draw = (node, depth) =>
    html`<li key=${node.node}>
      <${NodeCard} node=${node} cluster=${cluster} sinceMs=${sinceMs} limits=${limits} />
      ${
        depth < 20 && childrenOf(node).length > 0
          ? html`<ul>
              ${childrenOf(node).map((child) => draw(child, depth + 1))}
            </ul>`
          : null
      }
    </li>`;
  return html`<section class="topology" aria-label="Nodes as WAL flows">
    ${
      roots.length > 0
        ? html`<ul class="flow">
            ${roots.map((node) => draw(node, 0))}
          </ul>`
        : null
    }
    ${
      apart.length > 0
        ? html`<h2 class="apart-title">Not in the WAL flow</h2>
            <ul class="apart">
              ${apart.map((node) => html`<li key=${node.node}><${NodeCard} node=${node} cluster=${cluster} sinceMs=${sinceMs} limits=${limits} isApart /></li>`)}
            </ul>`
        : null
    }
  </section>`;
}

/** Finds roots, children and the nodes apart. A ring of senders has no root: its nodes are apart. */
export function flowOf({ nodes, leader }) {
  const sorted = nodes.toSorted((one, other) => compareNames(one.node, other.node));
  const names = new Set(nodes.map(({ node }) => node));
  const receivers = new Map();
  for (const node of sorted)
    if (node.upstream !== null && node.node !== leader && names.has(node.upstream))
      receivers.set(node.upstream, [...(receivers.get(node.upstream) ?? []), node]);
  const childrenOf = ({ node }) => receivers.get(node) ?? [];
  const roots = sorted.filter((node) => node.node === leader || (!isFed(node, names) && childrenOf(node).length > 0));
  roots.sort((one, other) => Number(other.node === leader) - Number(one.node === leader));
  const reached = new Set();
  const open = [...roots];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (reached.has(node.node)) continue;
    reached.add(node.node);
    open.push(...childrenOf(node));
  }
  return { roots, apart: sorted.filter(({ node }) => !reached.has(node)), childrenOf };
}

function isFed({ upstream }, names) {
  return upstream !== null && names.has(upstream);
}

function NodeCard({ node, cluster, sinceMs, limits, isApart = false }) {
  const { role, was, state, timeline, lag_bytes: lag, lag_ms: lagMs, reason, detail, warning } = node;
  const tone = toneOf(node);
  const isLeader = node.node === cluster.leader;
  const ageMs = node.age_ms === null ? null : node.age_ms + sinceMs;
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
      ${was === null ? wordsOf(role ?? "never answered") : `was ${wordsOf(was)}`}${state !== null && state !== "unknown" ? html`, ${state}` : null}
    </p>
    <dl>
      ${
        isLeader
          ? html`<div>
              <dt>position</dt>
              <dd>${lsnText(node.position)}</dd>
            </div>`
          : html`<div>
              <dt>lag</dt>
              <dd>${bytesText(lag)}${lagMs > 0 ? html` <small>${durationText(lagMs)}</small>` : null}</dd>
            </div>`
      }
      <div>
        <dt>timeline</dt>
        <dd class=${isBehind ? "old" : ""}>${timeline ?? "–"}</dd>
      </div>
      <div>
        <dt>evidence</dt>
        <dd class=${isOld(ageMs) ? "age old" : "age"}>${ageText(ageMs)}</dd>
      </div>
    </dl>
    ${isLeader ? null : html`<${NodeLimits} node=${node} limits=${limits} />`}
    ${reason === null ? null : html`<p class="why"><${ReasonLink} reason=${reason} />${detail === null ? null : html` <span>${detail}</span>`}</p>`}
    ${warning === null || reason !== null ? null : html`<p class="why">${warning}</p>`}
    <${NodeMarks} node=${node} />
    ${shownStore().isPast ? null : html`<${NodeActions} cluster=${cluster} node=${node} />`}
  </article>`;
}

/** Tags, pending restarts, drains and the part in synchronous replication. */
export function NodeMarks({ node }) {
  const { tags, pending_restart: pending, scheduled_restart: planned, drain, sync_role: sync } = node;
  const set = ["nofailover", "noloadbalance", "nosync", "nostream"].filter((tag) => tags[tag] === "true");
  const badges = [
    ...(sync === null ? [] : [html`<${Badge}>${sync}<//>`]),
    ...set.map((tag) => html`<${Badge}>${tag}<//>`),
    ...(pending ? [html`<${Badge} tone="warn">restart pending<//>`] : []),
    ...(planned === null ? [] : [html`<${Badge} title=${planned}>restart planned<//>`]),
    ...(drain === null
      ? []
      : [html`<${Badge} tone="idle" title=${drain.by === null ? "" : `by ${drain.by}`}>drained: ${drain.reason}<//>`]),
  ];
  return badges.length === 0 ? null : html`<p class="badges">${badges}</p>`;
}
