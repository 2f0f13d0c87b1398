import { ClusterActions } from "../actions/actions.js";
import { html } from "../html.js";
import { linkTo, useStore, useTicks } from "../live/hooks.js";
import { countText, dateText, wordsOf, zoneText } from "../parts/format.js";
import { namesText } from "../parts/many.js";
import { Badge } from "../parts/marks.js";
import { Situation } from "../parts/situation.js";
import { EventList } from "./event-list.js";
import { LagHistory } from "./lag-history.js";
import { LimitTable, useLimits } from "./limits.js";
import { Recent } from "./recent.js";
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
    return html`<${Crumbs} name=${name} />
      <h1>${name}</h1>
      <p class="empty">Waiting for rolecall. If this lasts, the cluster is not monitored here.</p>`;
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
        <${Topology} cluster=${cluster} sinceMs=${sinceMs} limits=${limits.limits} />
        <section aria-labelledby="verdicts">
          <h2 id="verdicts">Verdicts</h2>
          <${VerdictTable} cluster=${cluster} />
        </section>
        <section aria-labelledby="lag">
          <h2 id="lag">Lag <small>times in ${zoneText()}</small></h2>
          <${LagHistory} cluster=${cluster} store=${store} limits=${limits.limits} />
          <${LimitTable} cluster=${cluster} limits=${limits} />
        </section>
        <section aria-labelledby="past">
          <h2 id="past">Who was fit when <small>times in ${zoneText()}</small></h2>
          <${Strips} cluster=${cluster} store=${store} />
        </section>
      </div>
      <section class="aside" aria-labelledby="events">
        <h2 id="events">Events</h2>
        <${EventList} query=${`cluster=${encodeURIComponent(name)}&limit=30`} store=${store} cluster=${name} />
      </section>
    </div>
  `;
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
