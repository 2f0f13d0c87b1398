import { ClusterActions } from "../actions/actions.js";
import { html } from "../html.js";
import { linkTo, useStore, useTicks } from "../live/hooks.js";
import { loading, streamOf, wordsFor } from "../live/reading.js";
import { isStale } from "../parts/condition.js";
import { Fold } from "../parts/fold.js";
import { bytesText, countText, dateText, wordsOf, zoneText } from "../parts/format.js";
import { namesText } from "../parts/many.js";
import { Badge } from "../parts/marks.js";
import { Situation } from "../parts/situation.js";
import { NotKnown } from "../parts/told.js";
import { EventList } from "./event-list.js";
import { LagHistory } from "./lag-history.js";
import { LimitTable, useLimits } from "./limits.js";
import { NotFound } from "./not-found.js";
import { Recent } from "./recent.js";
import { RoadSection } from "./road.js";
import { Strips } from "./strips.js";
import { Topology } from "./topology.js";
import { VerdictTable } from "./verdict-table.js";

/** One cluster: who leads, how WAL flows, what each node is fit for and why. */
export function ClusterView({ name }) {
  const store = useStore();
  useTicks(250);
  const { followed } = store;
  const limits = useLimits(name, store);
  if (followed === null || followed.cluster.cluster !== name)
    return html`<${Crumbs} name=${name} /> <${NoCluster} name=${name} store=${store} />`;
  const { cluster, receivedMs } = followed;
  const sinceMs = store.nowMs() - receivedMs;
  return html`
    <${Crumbs} name=${name} />
    <div class="toolbar">
      <h1>${name}</h1>
      <${ClusterBadges} cluster=${cluster} />
      ${store.isPast ? null : html`<${ClusterActions} cluster=${cluster} />`}
    </div>
    <${Situation} cluster=${cluster} sinceMs=${sinceMs} isLost=${store.state === "lost"} />
    <${Unasked} cluster=${cluster} />
    <${Recent} store=${store} cluster=${name} />
    <div class="beside">
      <div>
        ${store.isPast ? null : html`<${RoadSection} cluster=${cluster} store=${store} />`}
        <${Topology} cluster=${cluster} sinceMs=${sinceMs} limits=${limits.limits} />
        <${Fold} id="verdicts" title="Verdicts" summary=${fitText(cluster)}>
          <${VerdictTable} cluster=${cluster} />
        <//>
        <${Fold} id="lag" title="Lag" note=${`times in ${zoneText()}`} summary=${lagSummary(cluster)}>
          <${LagHistory} cluster=${cluster} store=${store} limits=${limits.limits} />
          <${LimitTable} cluster=${cluster} limits=${limits} />
        <//>
        <${Fold} id="past" title="Who was fit when" note=${`times in ${zoneText()}`}>
          <${Strips} cluster=${cluster} store=${store} />
        <//>
      </div>
      <div class="aside">
        <${Fold} id="events" title="Events">
          <${EventList} query=${`cluster=${encodeURIComponent(name)}&limit=30`} store=${store} cluster=${name} />
        <//>
      </div>
    </div>
  `;
}

/** Why nothing of a cluster is shown: it is being read, the server does not have it, or nothing arrives. */
export function NoCluster({ name, store }) {
  const stream = streamOf(store);
  if (store.state === "absent")
    return html`<${NotFound}
      title=${name}
      what=${`This rolecall does not monitor a cluster ${name}, or not for this listener`}
    />`;
  if (store.isPast) return html`<${NotFound} title=${name} what=${`What is shown of the past is not of ${name}`} />`;
  return html`<h1>${name}</h1>
    <${NotKnown}
      reading=${stream.kind === "known" ? loading : stream}
      text=${wordsFor(stream, "the cluster") ?? "Reading the cluster."}
    />`;
}

/** Who is fit, for the folded heading. */
function fitText({ nodes }) {
  const primary = nodes.filter(({ verdicts }) => verdicts.primary === "fit").map(({ node }) => node);
  const replicas = nodes.filter(({ verdicts }) => verdicts.replica === "fit").length;
  return `/primary: ${namesText(primary)}; /replica: ${replicas} of ${nodes.length}`;
}

/** The worst lag that is known, for the folded heading. */
function lagSummary({ nodes, leader }) {
  const behind = nodes.filter(({ node }) => node !== leader);
  const [worst] = behind
    .filter((node) => !isStale(node) && node.lag_bytes !== null)
    .toSorted((one, other) => other.lag_bytes - one.lag_bytes);
  const unknown = behind.filter((node) => isStale(node) || node.lag_bytes === null).length;
  const words = worst === undefined ? [] : [`${bytesText(worst.lag_bytes)} at most (${worst.node})`];
  return [...words, ...(unknown > 0 ? [`not known of ${unknown}`] : [])].join("; ") || null;
}

export function Crumbs({ name, node }) {
  return html`<nav class="crumbs" aria-label="Path">
    <a href=${linkTo()}>Fleet</a> <span aria-hidden="true">/</span> ${" "}
    ${node === undefined ? html`<span aria-current="page">${name}</span>` : html`<a href=${linkTo("clusters", name)}>${name}</a> <span aria-hidden="true">/</span> <span aria-current="page">${node}</span>`}
  </nav>`;
}

function ClusterBadges({ cluster }) {
  const { timeline, nodes, paused, failsafe, guards_off: off, scheduled_switchover: planned } = cluster;
  return html`<p class="badges">
    <${Badge}>${countText(nodes.length, "node")}<//>
    ${timeline === null ? null : html`<${Badge}>timeline ${timeline}<//>`}
    ${paused ? html`<${Badge} tone="idle">paused<//>` : null}
    ${failsafe ? html`<${Badge} tone="warn">failsafe mode<//>` : null}
    ${off.map((guard) => html`<${Badge} tone="warn" title="Switched off in the configuration">guard ${wordsOf(guard)} off<//>`)}
    ${planned === null ? null : html`<${Badge} tone="idle">switchover planned ${dateText(planned.at)}<//>`}
  </p>`;
}

/** What balancers do not know yet: members that none of them asks for, and names that are no members any more. */
function Unasked({ cluster: { nodes, asked_non_members: gone = [] } }) {
  const unasked = nodes.filter((node) => node.unasked === true).map(({ node }) => node);
  if (unasked.length === 0 && gone.length === 0) return null;
  return html`<div class="banner warn">
    ${unasked.length > 0 ? html`<p><strong>No balancer asks for ${namesText(unasked)}</strong>, though they ask for other members: render again.</p>` : null}
    ${gone.length > 0 ? html`<p><strong>${namesText(gone.map(({ node }) => node))}</strong>: no member, and balancers still ask for it: render again.</p>` : null}
  </div>`;
}
