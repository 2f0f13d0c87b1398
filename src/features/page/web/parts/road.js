import { isStale, toneOf } from "./condition.js";
import { ageText, countText, durationText, wordsOf } from "./format.js";

/**
 * The way that clients take to a cluster: pools, the balancers and poolers that have them, and the nodes that these lead
 * to, each with what was seen. Nothing is green ("ok") without evidence that clients get through; what nobody sees is
 * grey ("stale"); where clients fail it is red ("bad").
 */

/** A look that is older than so many intervals says nothing of the present. */
const staleIntervals = 3;
/** The same of a canary. */
const staleTries = 3;

const programs = { haproxy: "HAProxy", pgbouncer: "PgBouncer", envoy: "Envoy" };

/**
 * Groups what the audit and the canaries have seen by pool.
 * @param audit the document of `/clusters/{cluster}/audit`
 * @param canaries as `/status` has them
 * @param cluster as the stream has it
 * @param agoMs the ages of both documents, in ms
 * @returns `{ key, name, tone, canaries, roads }` for each pool, the worst first. A road is `{ key, title, tone, text,
 *   edges }`, an edge `{ key, server, node, tone, text }`, a canary `{ key, tone, text, node }`
 */
export function roadsByPool({ audit, canaries, cluster, agoMs }) {
  const groups = new Map();
  const groupOf = (name) => {
    const known = groups.get(name) ?? { key: name, name, canaries: [], roads: [] };
    groups.set(name, known);
    return known;
  };
  for (const target of audit.targets) {
    const seen = seenOf(target, audit, agoMs);
    if (target.pools.length === 0) groupOf(target.target).roads.push(unreadRoad(target, seen));
    for (const pool of target.pools)
      groupOf(pool.pool ?? pool.check ?? pool.backend).roads.push(roadOf(pool, { target, seen, audit, cluster }));
  }
  for (const canary of canaries) groupOf(canary.pool).canaries.push(canaryOf(canary, agoMs));
  return [...groups.values()]
    .map(withoutRefuted)
    .map((group) => ({ ...group, tone: worstOf([...group.canaries, ...group.roads]) }))
    .toSorted((one, other) => ranks.indexOf(one.tone) - ranks.indexOf(other.tone));
}

/** Worst first. `plain`: open, and nobody was seen to use it. */
const ranks = ["bad", "warn", "stale", "idle", "plain", "ok"];

function worstOf(parts) {
  return ranks[Math.min(...parts.map(({ tone }) => ranks.indexOf(tone)))] ?? "stale";
}

/** Sessions are no evidence that clients are served where every canary fails: these sessions may be those of the canaries. */
function withoutRefuted(group) {
  const { canaries, roads } = group;
  if (canaries.length === 0 || canaries.some(({ tone }) => tone !== "bad")) return group;
  return {
    ...group,
    roads: roads.map((road) => ({
      ...refuted(road),
      text: road.tone === "ok" ? "sessions are seen, but canaries fail" : road.text,
      edges: road.edges.map(refuted),
    })),
  };
}

function refuted(part) {
  return part.tone === "ok" ? { ...part, tone: "plain" } : part;
}

/** Whether the last look at a target says something of the present, and else why not. */
function seenOf({ up, problem, program, looked_ms_ago: lookedMs, is_compared: isCompared }, { interval_ms }, agoMs) {
  if (up === null) return { isNow: false, tone: "stale", text: "not looked at yet" };
  if (!up) {
    const text = `cannot be read: ${problem ?? "it does not answer"}`;
    // Its console is at the port of its clients, who get the same answer.
    return program === "pgbouncer"
      ? { isNow: false, tone: "bad", text: `${text}. Its clients connect to the same port` }
      : { isNow: false, tone: "stale", text: `not known: ${text}` };
  }
  const ageMs = lookedMs + agoMs;
  if (ageMs > staleIntervals * interval_ms + 2_000)
    return { isNow: false, tone: "stale", text: `not known: not looked at for ${durationText(ageMs)}` };
  if (!isCompared) return { isNow: false, tone: "stale", text: "not known: there is no evidence about the nodes" };
  return { isNow: true, ageMs };
}

function titleOf({ target, program }, backend) {
  return { program: programs[program] ?? program, target, backend };
}

function unreadRoad(target, seen) {
  const { tone, text } = seen.isNow ? { tone: "stale", text: "it shows nothing of this cluster" } : seen;
  return { key: target.target, title: titleOf(target, null), tone, text, edges: [] };
}

function roadOf(pool, { target, seen, audit, cluster }) {
  const own = audit.findings.filter((one) => one.target === target.target && one.backend === pool.backend);
  const edges = edgesOf(pool).map((server) =>
    edgeOf(server, {
      pool,
      seen,
      finding: own.find((one) => one.server === server.server),
      node: cluster.nodes.find(({ node }) => node === server.node),
    }),
  );
  const whole = own.find(({ server }) => server === null);
  const said = seen.isNow ? poolText(pool, whole, edges) : seen;
  const left = pool.left_out > 0 ? `${said.text}; ${countText(pool.left_out, "server")} more` : said.text;
  return { key: `${target.target} ${pool.backend}`, title: titleOf(target, pool.backend), ...said, text: left, edges };
}

/** The servers of a pool; of one without connections where it leads. */
function edgesOf({ servers, leads_to: leadsTo }) {
  if (servers === null) return [];
  if (leadsTo === null || servers.some(({ address }) => address === leadsTo.address)) return servers;
  const none = { use: "takes", closed: null, sessions: 0, new_sessions: null, failed: null, since_look_ms: null };
  return [...servers, { server: leadsTo.address, ...leadsTo, ...none, fit: null, reason: null }];
}

/** What is said of a pool as a whole: red if no client gets through it. */
function poolText({ closed, not_taken: notTaken, servers, only_members: onlyMembers }, finding, edges) {
  if (closed !== null) return { tone: "bad", text: `${closed}: no client can use it` };
  if (servers === null) return { tone: "bad", text: "it does not have this pool: no client can use it" };
  if (finding !== undefined) return { tone: "bad", text: finding.what };
  if (notTaken !== null) return { tone: "warn", text: `it has not taken what it was sent: ${notTaken}` };
  const open = edges.filter(({ isOpen }) => isOpen);
  if (edges.length > 0 && open.length === 0)
    return { tone: "bad", text: "no server takes sessions: no client can use it" };
  if (edges.length === 0)
    return {
      tone: "stale",
      text: onlyMembers ? "not known: it shows no server" : "not known: it has no connection now",
    };
  const worst = worstOf(open);
  if (worst === "bad" || worst === "warn") return { tone: worst, text: "look at the marked way" };
  // One way that clients are seen on is enough; the others are only open.
  if (open.some(({ tone }) => tone === "ok")) return { tone: "ok", text: "clients get through" };
  return { tone: worst, text: worst === "stale" ? "not known whether clients get through" : "open; no client is seen" };
}

function edgeOf(server, { pool, seen, finding, node }) {
  const { node: name, address } = server;
  const isOpen = server.use === "takes" && server.closed === null;
  const parts = { key: server.server, server: server.server, node: name, address, isOpen };
  if (!seen.isNow) return { ...parts, tone: "stale", text: `not known; last seen: ${countsText(server)}` };
  return { ...parts, ...toneOfEdge(server, { pool, finding, node }) };
}

function toneOfEdge(server, { pool, finding, node }) {
  const { use, closed, sessions, new_sessions: fresh, failed, fit, reason, node: name } = server;
  const counts = countsText(server);
  if (finding !== undefined) return { tone: "bad", text: `${finding.what}; ${counts}` };
  if (use !== "takes" || closed !== null) {
    const isMissed = fit === true && use !== "spare";
    return {
      tone: isMissed ? "warn" : "idle",
      text: `${closed ?? uses[use]}${isMissed ? ", though its node is fit" : ""}; ${counts}`,
    };
  }
  if (name === null)
    return pool.only_members
      ? { tone: "bad", text: `leads to no member; ${counts}` }
      : { tone: "stale", text: `leads on, and what follows is not known here; ${counts}` };
  if (fit === false)
    return { tone: "warn", text: `takes sessions, though its node is ${wordsOf(reason ?? "not fit")}; ${counts}` };
  if (failed > 0) return { tone: "bad", text: `${countText(failed, "attempt")} to connect failed; ${counts}` };
  if (node === undefined || isStale(node) || toneOf(node) === "bad")
    return { tone: "stale", text: `not known: the node does not answer rolecall, or is unfit; ${counts}` };
  if (sessions > 0 || fresh > 0) return { tone: "ok", text: counts };
  return { tone: "plain", text: `open; ${counts}` };
}

const uses = { down: "down by its check", spare: "spare, used if no other is left", held: "held back" };

/** The sessions of a server in words. */
function countsText({ sessions, new_sessions: fresh, since_look_ms: sinceMs }) {
  const now = sessions === 0 ? "no session" : countText(sessions, "session");
  return fresh === null || sinceMs === null ? now : `${now}, ${fresh} new in ${durationText(sinceMs)}`;
}

const done = { committed: "committed", read: "read" };

/** A canary in words: tried 3 s ago: committed on pg2 in 4 ms. */
function canaryOf(canary, agoMs) {
  const {
    pool,
    target,
    kind,
    state,
    tried_at: triedAt,
    took_ms: tookMs,
    node,
    error,
    interval_ms: intervalMs,
  } = canary;
  const parts = { key: `${pool} ${target}`, target, node };
  if (state === "pending" || triedAt === null) return { ...parts, tone: "stale", text: "not known: not tried yet" };
  const ageMs = canary.ageMs + agoMs;
  const tried = `tried ${ageText(ageMs)} ago`;
  if (state === "failed") {
    const forText = canary.failingMs === null ? "" : `, for ${durationText(canary.failingMs + agoMs)}`;
    // Codes of canaries themselves are words, which their messages say.
    const code = /^[a-z_]+$/.test(error?.code ?? "") ? "" : `${error?.code} `;
    const why = error === null ? "failed" : code + error.message;
    if (canary.unfit) return { ...parts, tone: "warn", text: `${tried}: the canary cannot try: ${why}${forText}` };
    return { ...parts, tone: "bad", text: `${tried}: ${kind === "read" ? "reads" : "writes"} fail: ${why}${forText}` };
  }
  if (ageMs > staleTries * intervalMs + 2_000)
    return { ...parts, tone: "stale", text: `not known: ${tried}, and not since` };
  const at = node ?? (canary.server === null ? null : canary.server.address);
  const row = canary.age_ms === null ? "" : `, a row ${durationText(canary.age_ms)} old`;
  return {
    ...parts,
    tone: "ok",
    text: `${tried}: ${done[state] ?? state}${at === null ? "" : ` on ${at}`} in ${durationText(tookMs)}${row}`,
  };
}

/** Canaries with ages, since the page's clock is not that of the server. @param atMs the instant of the document */
export function withAges(canaries, atMs) {
  const ageOf = (at) => (at === null ? null : Math.max(0, atMs - Date.parse(at)));
  return canaries.map((canary) => ({
    ...canary,
    ageMs: ageOf(canary.tried_at),
    failingMs: ageOf(canary.failing_since),
  }));
}
