import { NodeActions } from "../actions/actions.js";
import { html, useMemo, useState } from "../html.js";
import { linkTo, useDocument, useStore, useTicks } from "../live/hooks.js";
import { dataOf, partOf } from "../live/reading.js";
import { isLastKnown, toneOf } from "../parts/condition.js";
import { FactList } from "../parts/facts.js";
import { ageText, bytesText, countText, drainText, durationText, dateText, lsnText, wordsOf } from "../parts/format.js";
import { useMore } from "../parts/many.js";
import { Badge, CodeText, Mark, ReasonLink } from "../parts/marks.js";
import { Told } from "../parts/told.js";
import { Crumbs, NoCluster } from "./cluster.js";
import { BalancerChecks, LimitNote, NodeLimits, useLimits } from "./limits.js";
import { NotFound } from "./not-found.js";
import { NodeMarks } from "./topology.js";
import { Verdict, verdictGroups } from "./verdict-table.js";

/** One node: its facts, the explanation of a check, its last changes and what it answered. */
export function NodeView({ cluster: name, node: nodeName }) {
  const store = useStore();
  useTicks(250);
  const { followed } = store;
  const cluster = followed?.cluster.cluster === name ? followed.cluster : null;
  const node = cluster?.nodes.find((each) => each.node === nodeName);
  const [check, setCheck] = useState(null);
  if (node === undefined)
    return html`<${Crumbs} name=${name} node=${nodeName} /> ${
        cluster === null
          ? html`<${NoCluster} name=${name} store=${store} />`
          : html`<${NotFound} title=${nodeName} what=${`${name} has no node ${nodeName}`}
              ><a href=${linkTo("clusters", name)}>Cluster ${name}</a>${" "}<//
            >`
      }`;
  const path = `clusters/${encodeURIComponent(name)}/nodes/${encodeURIComponent(nodeName)}`;
  const asked = check ?? (cluster.leader === nodeName ? "/primary" : "/replica");
  return html`
    <${Crumbs} name=${name} node=${nodeName} />
    <div class="toolbar">
      <h1><${Mark} tone=${toneOf(node)} />${nodeName}</h1>
      <${Badge}>${wordsOf(node.was === null ? (node.role ?? "never answered") : `was ${node.was}`)}<//
      ><${NodeMarks} node=${node} />
      ${store.isPast ? null : html`<${NodeActions} cluster=${cluster} node=${node} />`}
    </div>
    <${Verdicts} node=${node} />
    <${Facts} node=${node} cluster=${cluster} sinceMs=${store.nowMs() - followed.receivedMs} />
    <${Limits} node=${node} cluster=${cluster} store=${store} />
    <${Explanation}
      path=${path}
      node=${node}
      check=${asked}
      routes=${Object.keys(node.verdicts)}
      onCheck=${setCheck}
      state=${`${JSON.stringify(node.verdicts)} ${Math.floor(store.wallMs() / explainedMs)}`}
    />
    <${Changes} path=${path} state=${JSON.stringify(node.verdicts)} />
    <${RawDocument} path=${path} />
  `;
}

/** What the node is fit for, each answer once with the routes that get it. */
function Verdicts({ node: { verdicts, evidence, reason, detail } }) {
  return html`<section class="verdict-list" aria-label="Verdicts">
    <ul>
      ${verdictGroups(verdicts).map(
        ({ verdict, routes }) =>
          html`<li key=${verdict}>
            <${Verdict} verdict=${verdict} evidence=${evidence} />
            ${verdict === reason && detail !== null ? html` <span>${detail}</span>` : null}
            <small>${routes.map((route) => `/${route}`).join(", ")}</small>
          </li>`,
      )}
    </ul>
  </section>`;
}

function Limits({ node, cluster, store }) {
  const { limits, note } = useLimits(cluster.cluster, store);
  if (node.node === cluster.leader || (limits.length === 0 && note === null)) return null;
  return html`<section aria-labelledby="limits">
    <h2 id="limits">Limits for its lag</h2>
    <${BalancerChecks} node=${node} />
    <${NodeLimits} node=${node} limits=${limits} most=${Infinity} />
    <${LimitNote} note=${note} />
  </section>`;
}

function lagText({ lag_bytes: bytes, lag_ms: ms }) {
  return bytes === null && ms === null ? "unknown" : `${bytesText(bytes)}, ${durationText(ms)}`;
}

/** The lags that the cluster document states (Patroni 4.1). */
function statedText(lag) {
  return lag === undefined ? null : `received ${bytesText(lag.receive_lag)}, replayed ${bytesText(lag.replay_lag)}`;
}

const companionWords = { up: "answers", down: "does not answer", stale: "answered too long ago", unknown: "not known" };

/** The companions of the node: pgbouncer does not answer (connection refused). */
function companionsText(companions = []) {
  const texts = companions.map(
    ({ name, state, error }) => `${name} ${companionWords[state] ?? state}${error === null ? "" : ` (${error})`}`,
  );
  return texts.join(", ") || null;
}

function Facts({ node, cluster, sinceMs }) {
  const known = (value) =>
    node.evidence === "last known" ? html`<span class="stale">${value}, last known</span>` : value;
  const facts = [
    ["state", node.state],
    ["lag", node.node === cluster.leader ? "leader" : known(lagText(node))],
    ["lag in /cluster", statedText(cluster.stated_lags?.[node.node])],
    ["position", known(lsnText(node.position))],
    ["timeline", known(node.timeline)],
    ["evidence", ageText(node.age_ms === null ? null : node.age_ms + sinceMs)],
    ["receives WAL from", node.upstream],
    ["last failure", node.error],
    ["version", node.version],
    ["API", node.api],
    ["database", node.database],
    ["zone", node.zone],
    ["companions", companionsText(node.companions)],
    ["system", node.system],
    ["drain", drainText(node.drain)],
    ["restart for", node.pending_restart_reason?.join(", ") || null],
    ["watchdog", node.watchdog_failed ? "failed" : null],
    [
      "tags",
      Object.entries(node.tags)
        .map(([tag, value]) => `${tag}: ${value}`)
        .join(", ") || null,
    ],
  ];
  return html`<${FactList} facts=${facts} />`;
}

/** An explanation is read again when a verdict changes, and after this time, in ms. */
const explainedMs = 5_000;

const outcomes = { pass: ["ok", "holds"], refuse: ["bad", "fails"], skip: ["idle", "not asked"] };

function Explanation({ path, node, check, routes, onCheck, state }) {
  const [text, setText] = useState(check);
  const reading = useDocument(`${path}/explain?check=${encodeURIComponent(check)}`, state);
  const submit = (event) => {
    event.preventDefault();
    onCheck(text);
  };
  return html`<section aria-labelledby="explain">
    <h2 id="explain">Why</h2>
    <form class="filters" onSubmit=${submit}>
      <label>Check <input list="routes" value=${text} onInput=${(event) => setText(event.target.value)} /></label>
      <datalist id="routes">${routes.map((route) => html`<option value=${`/${route}`} />`)}</datalist>
      <button type="submit" class="chip">Explain</button>
    </form>
    <${Told} reading=${reading} what=${`the explanation of ${check}`}
      >${(data) =>
        html`<p class="lead">
            <strong>${data.node} is ${data.fit ? "fit" : "not fit"} for ${data.check}</strong>
            ${data.reason === null ? null : html`: <${ReasonLink} reason=${data.reason} /> <${CodeText} text=${data.detail ?? ""} />`}
          </p>
          <${Rules} rules=${data.rules} decisive=${data.decisive} node=${node} />`}<//
    >
  </section>`;
}

function Rules({ rules, decisive, node }) {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Rules in order">
    <table class="rules">
      <thead>
        <tr>
          <th scope="col">rule</th>
          <th scope="col">outcome</th>
          <th scope="col">observed</th>
          <th scope="col">must be</th>
          <th scope="col">source</th>
        </tr>
      </thead>
      <tbody>
        ${rules.map((line) => {
          const { rule, outcome, value, limit, source, age_ms: ageMs } = line;
          const isHeld = outcome === "pass" && isLastKnown(line, node);
          const [tone, word] = isHeld ? ["stale", "held, last known"] : (outcomes[outcome] ?? ["idle", outcome]);
          const isDecisive = rule === decisive && outcome === "refuse";
          return html`<tr key=${rule} class=${isDecisive ? "decisive" : ""}>
            <th scope="row">${rule}</th>
            <td><${Mark} tone=${tone} />${word}${isDecisive ? ", decides" : ""}</td>
            <td>${value}</td>
            <td>${limit ?? "–"}</td>
            <td>${source}${ageMs === null ? "" : `, ${ageText(ageMs)} old`}</td>
          </tr>`;
        })}
      </tbody>
    </table>
  </div>`;
}

function Changes({ path, state }) {
  const reading = partOf(useDocument(`${path}/verdicts`, state), ({ changes }) => changes.toReversed());
  const [most, more] = useMore(dataOf(reading)?.length ?? 0, "changes");
  return html`<section aria-labelledby="changes">
    <h2 id="changes">Last changes</h2>
    <${Told} reading=${reading} what="changes"
      >${(changes, isKnown) =>
        changes.length === 0
          ? isKnown && html`<p class="empty">None since rolecall started.</p>`
          : html`<ol class="events">
                ${changes.slice(0, most).map(
                  ({ at, before, after, failure }) =>
                    html`<li key=${at}>
                      <time datetime=${at} title=${at}>${dateText(at)}</time>
                      <span class="message"
                        >${changeText(before, after)}${failure === null ? "" : ` (${failure})`}</span
                      >
                    </li>`,
                )}
              </ol>
              ${more}`}<//
    >
  </section>`;
}

/** What differs between two summaries. */
function changeText(before, after) {
  const then = before === null ? null : summaryWords(before);
  return Object.entries(summaryWords(after))
    .filter(([field, word]) => then?.[field] !== word)
    .map(([field, word]) => (then === null ? `${field} ${word}` : `${field} ${then[field]} → ${word}`))
    .join(", ");
}

function summaryWords({ role, isReachable, primary, replica }) {
  return { role, answers: isReachable ? "yes" : "no", "/primary": wordsOf(primary), "/replica": wordsOf(replica) };
}

/** How much of a document is shown, in characters. */
const shownMax = 200_000;

function RawDocument({ path }) {
  const [count, setCount] = useState(0);
  const reading = useDocument(count === 0 ? null : `${path}/document`, count);
  const data = dataOf(reading);
  // The view is drawn again several times a second, and the document may be large.
  const text = useMemo(() => (data === null ? "" : JSON.stringify(data.document, null, 2)), [data]);
  const shown = useMemo(() => text.slice(0, shownMax), [text]);
  return html`<section aria-labelledby="raw">
    <h2 id="raw">Last answer of the node</h2>
    <button type="button" class="chip" onClick=${() => setCount(count + 1)}>
      ${count === 0 ? "Show" : "Read again"}
    </button>
    ${
      count === 0
        ? null
        : html`<${Told} reading=${reading} what="the last answer"
            >${({ observed_at: at }) =>
              html`<p class="note">
                  ${`${at}, ${countText(text.length, "character")}${text.length > shownMax ? `, of which ${shownMax} are shown` : ""}`}
                </p>
                <pre tabindex="0" aria-label="Document">${shown}</pre>`}<//
          >`
    }
  </section>`;
}
