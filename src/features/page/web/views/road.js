import { html } from "../html.js";
import { linkTo, useDocument, useTicks } from "../live/hooks.js";
import { dataOf, known, orNone, partOf, withStream } from "../live/reading.js";
import { isStale, toneOf } from "../parts/condition.js";
import { Fold } from "../parts/fold.js";
import { CodeText, Mark } from "../parts/marks.js";
import { NotKnown, Told } from "../parts/told.js";
import { roadsByPool, withAges } from "../parts/road.js";
import { Finding } from "./finding.js";

/** How often the way is read again, in ms: the audit looks that often. Once more when the cluster's situation changes. */
const readMs = 5_000;
const words = {
  bad: "clients fail",
  warn: "look at it",
  stale: "not known",
  idle: "held back",
  plain: "open",
  ok: "seen to work",
};

/** The way of the clients of a cluster, as the audit and the canaries see it: red where clients fail. */
export function RoadSection({ cluster, store }) {
  const { condition, wrong } = cluster.situation;
  const round = `${useTicks(readMs)} ${condition} ${wrong}`;
  const path = `clusters/${encodeURIComponent(cluster.cluster)}`;
  const audit = orNone(timed(useDocument(`${path}/audit`, round)), noAudit);
  const status = timed(useDocument(`${path}/status`, round));
  const canaries = partOf(status, (document) => canariesOf(document, dataOf(audit)));
  const reading = withStream(bothOf(audit, canaries), store);
  const data = dataOf(reading);
  const groups = data === null ? [] : roadsByPool({ ...data, cluster, agoMs: ageOf(data.audit) });
  return html`<${Fold} id="road" title="The way of clients" summary=${summaryOf(reading, groups)}>
    <${Told} reading=${reading} what="the way of clients"
      >${(_, isKnown) =>
        groups.length === 0
          ? isKnown && html`<${Unseen} />`
          : html`<div class="road">
              ${groups.map((group) => html`<${PoolRoads} key=${group.key} group=${group} cluster=${cluster} />`)}
              ${data.audit.findings.slice(0, findingsMax).map((finding) => html`<${Finding} finding=${finding} />`)}
            </div>`}<//
    >
  <//>`;
}

const noAudit = { interval_ms: 0, targets: [], findings: [], at: null };
/** How many findings have their command here. All are in Edges. */
const findingsMax = 5;

/** When a document was received is kept with it: its ages count on from there. */
const received = new WeakMap();

function timed(reading) {
  const data = dataOf(reading);
  if (data !== null && !received.has(data)) received.set(data, performance.now());
  return reading;
}

function ageOf(document) {
  return performance.now() - (received.get(document) ?? performance.now());
}

function canariesOf(status, audit) {
  const [{ canaries = [] } = {}] = status.clusters;
  return withAges(canaries, Date.parse(audit?.at ?? "") || Date.now());
}

/** Known only if both are: a canary that cannot be read may be the only one that fails. */
function bothOf(audit, canaries) {
  const data = { audit: dataOf(audit) ?? noAudit, canaries: dataOf(canaries) ?? [] };
  const missing = [audit, canaries].find(({ kind }) => kind !== "known");
  if (missing === undefined) return known(data);
  const isNothing = dataOf(audit) === null && dataOf(canaries) === null;
  return missing.kind === "loading" || isNothing ? missing : { ...missing, last: data };
}

function summaryOf(reading, [worst]) {
  if (reading.kind === "loading") return "reading";
  if (reading.kind === "unknown" || worst === undefined) return "not known";
  const said = [...worst.canaries, ...worst.roads].find(({ tone }) => tone === worst.tone);
  return html`<${Mark} tone=${worst.tone} /> ${worst.name}: ${said?.text ?? words[worst.tone]}`;
}

function Unseen() {
  const text =
    "Not known: nobody looks at the way of clients to this cluster. rolecall sees it with `balancers`, `poolers` or `audit.envoys` in its configuration, and tries it with `canaries`.";
  return html`<${NotKnown} reading=${{ kind: "known" }} text=${text} />`;
}

function PoolRoads({ group: { name, tone, canaries, roads }, cluster }) {
  return html`<section class=${`pool-road ${tone}`} aria-label=${`The way to ${name}`}>
    <h3><${Mark} tone=${tone} />${name} <small>${words[tone]}</small></h3>
    <ul>
      ${canaries.map(
        (canary) =>
          html`<li key=${canary.key} class="way">
            <span class=${`stop target ${canary.tone}`}>canary <small>${canary.target}</small></span>
            <ul>
              <${Edge} edge=${canary} cluster=${cluster} />
            </ul>
          </li>`,
      )}
      ${roads.map(
        ({ key, title, tone: own, text, edges }) =>
          html`<li key=${key} class="way">
            <span class=${`stop target ${own}`}>
              <span
                ><${Mark} tone=${own} /> <b>${title.target}</b>
                <small>${title.program}${title.backend === null ? "" : `, ${title.backend}`}</small></span
              >
              <span class="said"><${CodeText} text=${text} /></span>
            </span>
            <ul>
              ${edges.map((edge) => html`<${Edge} key=${edge.key} edge=${edge} cluster=${cluster} />`)}
            </ul>
          </li>`,
      )}
    </ul>
  </section>`;
}

/** The wire from a balancer to a node, with what was seen on it. */
function Edge({ edge: { tone, text, server, node: name, address }, cluster }) {
  const node = cluster.nodes.find((each) => each.node === name);
  const nodeTone = node === undefined || isStale(node) ? "stale" : toneOf(node);
  const isOtherName = server !== undefined && server !== name;
  return html`<li class=${`edge ${tone}`}>
    <span class="wire"
      ><${Mark} tone=${tone} /> ${isOtherName ? html`<b>${server}</b> ` : null}<${CodeText} text=${text}
    /></span>
    <span class="stop">
      ${
        name === null || name === undefined
          ? html`<${Mark} tone="stale" /> ${address ?? "not known"}`
          : html`<${Mark} tone=${nodeTone} /> <a href=${linkTo("clusters", cluster.cluster, "nodes", name)}>${name}</a>`
      }
    </span>
  </li>`;
}
