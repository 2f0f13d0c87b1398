import { html } from "../html.js";
import { useDocument, useTicks } from "../live/hooks.js";
import { dataOf, orNone } from "../live/reading.js";
import { compareNames } from "../parts/condition.js";
import { FactList } from "../parts/facts.js";
import { ageText, bytesText, countText, durationText, wordsOf } from "../parts/format.js";
import { Badge, Mark, ReasonLink } from "../parts/marks.js";
import { Told } from "../parts/told.js";
import { Finding } from "./finding.js";
import { isOtherRole } from "./verdict-table.js";

/** How often the view is read again, in ms. */
const readMs = 5_000;

/** What is around the clusters: this process, its workers and listeners, pools, the checks of balancers, pushes. */
export function EdgesView() {
  const count = useTicks(readMs);
  const reading = useDocument("edges", count);
  const pools = orNone(useDocument("pools", count), { pools: [] });
  const audit = orNone(useDocument("audit", count), { targets: [], findings: [] });
  return html`
    <div class="toolbar"><h1>Edges</h1></div>
    <${Told} reading=${reading} what="edges"
      >${(edges) => html`<${Edges} edges=${edges} pools=${pools} audit=${audit} />`}<//
    >
  `;
}

function Edges({ edges, pools, audit }) {
  return html`
    <${Process} edges=${edges} />
    <${Table}
      title="Listeners"
      columns=${["address", "speaks", "for", "access"]}
      rows=${edges.listeners.map((listener) => [
        `${listener.address}:${listener.port}`,
        listener.dialect,
        listener.node ?? listener.cluster ?? "all clusters",
        html`<${Access} listener=${listener} />`,
      ])}
    />
    <${Pools} reading=${pools} />
    <h2>Checks by HAProxy backend</h2>
    ${
      edges.backends.length === 0
        ? html`<p class="empty">
            No check names its server. With http-check send-state in a backend, HAProxy names it.
          </p>`
        : byBackend(edges.backends).map((group) => html`<${Backend} key=${group.key} group=${group} />`)
    }
    <${Table}
      title="Answers by route"
      empty=${edges.cluster === null ? "Nothing was requested yet." : "Listeners without a cluster show them."}
      columns=${["route", "status", "answers"]}
      rows=${edges.answers.map(({ route, status, count }) => [
        wordsOf(route),
        html`<${Status} status=${status} />`,
        numberText(count),
      ])}
    />
    <h2>Where traffic goes</h2>
    <${Told} reading=${audit} what="where traffic goes"
      >${(data, isKnown) =>
        data.targets.length > 0
          ? html`<${Traffic} audit=${data} />`
          : isKnown &&
            html`<p class="empty unknown">
              <${Mark} tone="stale" /> Not known: no balancer or pooler is configured that could be looked at.
            </p>`}<//
    >
    <${Fleet} fleet=${edges.fleet ?? null} />
    <${Followed} upstreams=${edges.upstreams ?? []} followers=${edges.followers ?? []} />
    <h2>Pushes to balancers</h2>
    ${
      edges.balancers.length === 0
        ? html`<p class="empty">No balancer is configured. Balancers learn of a change by their next check.</p>`
        : edges.balancers.map(
            (balancer) => html`<${Balancer} key=${balancer.balancer} balancer=${balancer} audit=${audit} />`,
          )
    }
  `;
}

function Pools({ reading }) {
  if (reading.kind === "known" && reading.data.pools.length === 0) return null;
  return html`<h2>Pools</h2>
    <${Told} reading=${reading} what="pools"
      >${(data) => data.pools.map((pool) => html`<${Pool} key=${pool.pool} pool=${pool} />`)}<//
    >`;
}

/** Who gets clients of a pool, in order, and what refers to it. */
function Pool({ pool: { pool, named, cluster, check, fit, members, used_by: users } }) {
  return html`<${Table}
      level="h3"
      title=${html`${pool} <small>${named ? `${cluster}, ${check}` : "unnamed"}: ${fit} of ${members.length} fit</small>`}
      label=${`Members of ${pool}`}
      columns=${["node", "address", "zone", "lag", "state", "reason"]}
      rows=${members.map(({ node, host, port, zone, lag_bytes: lag, fit: isFit, degraded, no, reason, figure }) => [
        html`<a href=${`#/clusters/${encodeURIComponent(cluster)}/nodes/${encodeURIComponent(node)}`}>${node}</a>`,
        host === null ? "–" : hostPortText(host, port),
        zone ?? "–",
        bytesText(lag),
        html`<${Mark} tone=${isFit ? "ok" : memberTone(no, reason)} />
          ${isFit ? (degraded ? "fit, degraded" : "fit") : `${no} no`}`,
        reason === null ? "–" : html`<${ReasonLink} reason=${reason} />${figure === null ? "" : ` ${figure}`}`,
      ])}
    />
    <p class="note">${users.length === 0 ? "Nothing refers to it." : `Used by ${users.map(userText).join(", ")}.`}</p>`;
}

/** A node that is not asked for its role is no trouble. */
function memberTone(no, reason) {
  if (no === "hard") return "bad";
  return isOtherRole(reason) ? "stale" : "warn";
}

function hostPortText(host, port) {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

function userText({ kind, name, backend, up }) {
  return `${kind} ${name}${backend === null ? "" : `/${backend}`}${up === false ? " (not reachable)" : ""}`;
}

/** The checks of each backend with its cluster, by name: what balancers use. */
export function byBackend(rows) {
  const groups = new Map();
  for (const row of rows) {
    const key = JSON.stringify([row.backend, row.cluster]);
    const known = groups.get(key);
    if (known === undefined) groups.set(key, { key, backend: row.backend, cluster: row.cluster, rows: [row] });
    else known.rows.push(row);
  }
  const sorted = [...groups.values()].sort((one, other) => compareNames(one.backend, other.backend));
  for (const group of sorted) group.rows.sort((one, other) => compareNames(one.server, other.server));
  return sorted;
}

function Backend({ group: { backend, cluster, rows } }) {
  const fit = rows.filter(({ status }) => status < 300).length;
  return html`<${Table}
    level="h3"
    title=${html`${backend} <small>${cluster === null ? "" : `${cluster}, `}${fit} of ${rows.length} get a yes</small>`}
    label=${`Checks of ${backend}`}
    columns=${["server", "route", "last answer", "reason", "last check", "checks"]}
    rows=${rows.map(({ server, route, status, reason, ms_ago: agoMs, count }) => [
      server,
      `/${route}`,
      html`<${Status} status=${status} reason=${reason} />`,
      reason === null ? "–" : html`<${ReasonLink} reason=${reason} />`,
      `${ageText(agoMs)} ago`,
      numberText(count),
    ])}
  />`;
}

function Process({ edges: { process, workers, streams } }) {
  const facts = [
    ["version", process.version],
    ["runs on", `Node.js ${process.node}`],
    ["state", process.phase],
    ["up for", durationText(process.uptime_s * 1_000)],
    ["memory", bytesText(process.resident_bytes)],
    ["process", process.pid],
    ["instance", process.instance],
    ["configuration", process.config],
    ["pages and streams open", streams.open],
    ["workers", workers === null ? "none" : workersText(workers)],
  ];
  return html`<h2>This process</h2>
    <${FactList} facts=${facts} />`;
}

function workersText({ count, residentBytes, lost }) {
  return `${count}, ${bytesText(residentBytes)}${lost > 0 ? `, ${lost} lost` : ""}`;
}

function Access({ listener: { tls, auth, allow, management, read_only: readOnly, dialect } }) {
  const mayChange = dialect === "admin" ? !readOnly : management;
  const badges = [
    ...(tls ? [["ok", "TLS"]] : []),
    ...(auth === null ? [] : [["ok", auth === "all" ? "credential for all" : "credential for changes"]]),
    ...(allow === null ? [] : [["ok", `${allow} networks`]]),
    mayChange ? [auth === null ? "warn" : "plain", "accepts changes"] : ["plain", "reads only"],
  ];
  return html`<span class="badges">${badges.map(([tone, text]) => html`<${Badge} tone=${tone}>${text}<//>`)}</span>`;
}

/** A node that is not asked for its role is no trouble: a replica in a pool for writes. */
function Status({ status, reason = null }) {
  const tone =
    status < 300 ? "ok" : status < 500 || reason === "drained" ? "idle" : isOtherRole(reason) ? "stale" : "warn";
  return html`<${Mark} tone=${tone} /> ${status}`;
}

/** The members of the fleet, and how much each owns. */
function Fleet({ fleet }) {
  if (fleet === null) return null;
  const { name, member, phase, problem, members } = fleet;
  return html`<${Table}
      title=${html`Fleet <small>${name}, as ${member} sees it</small>`}
      label="Members of the fleet"
      columns=${["member", "zone", "version", "weight", "serves", "owns", "state"]}
      rows=${members.map(({ id, zone, version, weight, serves, owns, draining }) => [
        id,
        zone ?? "–",
        version,
        weight,
        numberText(serves),
        numberText(owns),
        draining === null ? "–" : html`<${Mark} tone="idle" /> ${drainText(draining)}`,
      ])}
    />
    ${
      phase === "joined"
        ? null
        : html`<p class="note">
            <span class="issue"><b>${member}</b> is apart from the fleet: ${problem ?? phase}</span>
          </p>`
    }`;
}

function drainText({ by, until }) {
  return `drained${until === null ? "" : ` until ${until}`}${by === null ? "" : ` by ${by}`}`;
}

const upstreamTones = { live: "ok", starting: "warn", connecting: "warn", waiting: "bad", stopped: "idle" };

/** The instances whose outcomes are taken, and those that take outcomes. */
function Followed({ upstreams, followers }) {
  return html`
    ${
      upstreams.length === 0
        ? null
        : html`<${Table}
            title="Follows"
            columns=${["rolecall", "version", "state", "clusters", "last heard"]}
            rows=${upstreams.map(({ url, version, state, problem, clusters, refused, silent_ms: silentMs }) => [
              url,
              version ?? "–",
              html`<${Mark} tone=${refused.length > 0 ? "warn" : upstreamTones[state]} />
                ${problem ?? refused[0]?.message ?? state}`,
              clusters,
              silentMs === null ? "–" : `${ageText(silentMs)} ago`,
            ])}
          />`
    }
    ${
      followers.length === 0
        ? null
        : html`<${Table}
            title="Followed by"
            columns=${["rolecall", "clusters"]}
            rows=${followers.map(({ follower, clusters }) => [follower, clusters])}
          />`
    }
  `;
}

const programs = { haproxy: "HAProxy", pgbouncer: "PgBouncer", envoy: "Envoy", kubernetes: "Kubernetes" };
const targetTones = { up: "ok", drain: "idle", down: "bad" };

/** Where balancers and poolers really send clients, and what moves those that are elsewhere. */
function Traffic({ audit: { targets, findings } }) {
  const rows = [...targets].sort((one, other) => Number(isRight(one)) - Number(isRight(other)));
  const more = findings.length - findingsShown;
  return html`${findings.slice(0, findingsShown).map((finding) => html`<${Finding} finding=${finding} />`)}
    ${more > 0 ? html`<p class="note">And ${countText(more, "more finding")}: <code>rolecall status routes</code></p>` : null}
    <${Table}
      label="Where traffic goes"
      columns=${["target", "traffic", "servers", "looked at", "program", "address"]}
      rows=${rows.map(
        ({ target, program, address, servers, looked_ms_ago: agoMs, up, findings: count, unknown = [] }) => [
          target,
          html`<${TrafficState} up=${up} count=${count} unknown=${unknown} />`,
          servers,
          agoMs === null ? "–" : `${ageText(agoMs)} ago`,
          programs[program] ?? program,
          address,
        ],
      )}
    />`;
}

/** How many findings are shown. `rolecall status routes` lists all of them. */
const findingsShown = 20;

/** Targets with something to look at come first. */
function isRight({ up, findings }) {
  return up !== false && findings === 0;
}

function TrafficState({ up, count, unknown }) {
  if (up === null) return "not looked at yet";
  if (!up) return html`<${Mark} tone="bad" /> does not answer`;
  if (count > 0) return html`<${Mark} tone="bad" /> ${countText(count, "finding")}`;
  if (unknown.length > 0) return html`<${Mark} tone="stale" /> not compared: nothing is known of ${unknown.join(", ")}`;
  return html`<${Mark} tone="ok" /> as it should be`;
}

function Balancer({
  balancer: { balancer, kind, up, version, waiting, pushed_ms_ago: agoMs, published_by: by, problems, servers },
  audit,
}) {
  const isLookedAt = audit.kind === "known" && audit.data.targets.some(({ target }) => target === balancer);
  const findings = dataOf(audit)?.findings ?? [];
  const [tone, word] = up === null ? ["idle", "connecting"] : up ? ["ok", "connected"] : ["bad", "not reachable"];
  const program = programs[kind];
  const rows = servers.map(({ backend, server, target, weight }) => [
    backend,
    server,
    target === null ? "–" : html`<${Mark} tone=${targetTones[target]} /> ${target}`,
    weight === null ? "–" : `${weight} %`,
    findings.find((one) => one.target === balancer && one.backend === backend && one.server === server)?.what ??
      (isLookedAt ? "–" : "not known"),
  ]);
  return html`<section aria-label=${`Balancer ${balancer}`}>
    <h3>
      <${Mark} tone=${tone} />${balancer} <small>${word}${version === null ? "" : `, ${program} ${version}`}</small>
    </h3>
    <p class="note">
      ${by === undefined ? "" : `Published by ${by ?? "nobody"}. `}
      ${agoMs === null ? "Nothing was pushed yet" : `Last push ${ageText(agoMs)} ago`}, ${waiting} waiting.
      ${problems.map(({ subject, problem }) => html` <span class="issue"><b>${subject}</b>: ${problem}</span>`)}
    </p>
    <${Table}
      label=${`Servers of ${balancer}`}
      columns=${["backend", "server", "wanted", "weight", "traffic"]}
      rows=${rows}
    />
  </section>`;
}

function Table({ title, level = "h2", label = title, columns, rows, empty = "None." }) {
  return html`${title === undefined ? null : html`<${level}>${title}<//>`}
  ${
    rows.length === 0
      ? html`<p class="empty">${empty}</p>`
      : html`<div class="scroll" tabindex="0" role="region" aria-label=${label}>
          <table class="rules">
            <thead>
              <tr>
                ${columns.map((name) => html`<th scope="col">${name}</th>`)}
              </tr>
            </thead>
            <tbody>
              ${rows.map(
                (cells, at) =>
                  html`<tr key=${at}>
                    ${cells.map((cell) => html`<td>${cell}</td>`)}
                  </tr>`,
              )}
            </tbody>
          </table>
        </div>`
  }`;
}

function numberText(count) {
  return count.toLocaleString("en");
}
