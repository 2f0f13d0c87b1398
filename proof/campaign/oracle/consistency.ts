import type { Said } from "../rolecall/asker.ts";
import { parameterOf, type Rule, routeOf, type Scene } from "./scene.ts";

const hard = new Set(
  "down stale unknown blind contested superseded demoted not_writable foreign misaddressed moved diverged detached no_manager stray_primary".split(
    " ",
  ),
);
const soft = new Set(
  (
    "wrong_role lagging lag_unknown stalled not_running tag noloadbalance not_sync not_quorum not_async replication_state min_lsn " +
    "drained held_back none_fit"
  ).split(" "),
);

/** Status, phrase, headers and body agree (design.md, Vocabulary and The node API). */
export const isConsistent: Rule = (scene, answer) => {
  const { status, word, headers, phrase, method, check, node } = answer;
  const reason = headers.get("x-rolecall-reason") ?? null;
  if (headers.get("cache-control") !== "no-store")
    return `Cache-Control must be no-store, got ${headers.get("cache-control")}`;
  if (headers.has("date")) return "it has a Date";
  if ((status === 200) !== (reason === null)) return `status ${status} with reason ${reason}`;
  if (reason !== null && !phrase.startsWith(reason)) return `phrase "${phrase}" of reason ${reason}`;
  if (reason !== null && statusFor(reason, check) !== status)
    return `status of ${reason} must be ${statusFor(reason, check)}, got ${status}`;
  if (method === "HEAD") return null;
  if (word === null) return "the body has no object rolecall";
  if (word.fit !== (status === 200) || word.reason !== reason)
    return `status ${status} ${reason}, body ${word.fit} ${word.reason}`;
  if (node !== null && (word.node !== node || headers.get("x-rolecall-node") !== node)) {
    return `asked of ${node}, answered of ${word.node} and ${headers.get("x-rolecall-node")}`;
  }
  // A primary that its exporter keeps fit has stated no position.
  const hasPosition = scene.surviveMs === 0 || word.lag_bytes !== null;
  if (routeOf(check) === "/primary" && status === 200 && word.lag_bytes !== 0 && hasPosition)
    return `a primary's lag must be 0, got ${word.lag_bytes}`;
  return limitHeld(scene, answer);
};

function statusFor(reason: string, check: string): number | null {
  if (reason === "blind") return 500;
  if (["down", "stale", "unknown"].includes(reason)) return Number(parameterOf(check, "unknown") ?? 503);
  if (hard.has(reason)) return 503;
  return soft.has(reason) ? Number(parameterOf(check, "miss") ?? 503) : null;
}

function limitHeld(_scene: Scene, { status, word, check }: Said): string | null {
  if (status !== 200 || word === null || routeOf(check) !== "/replica") return null;
  const lag = parameterOf(check, "lag");
  if (lag !== null && (word.lag_bytes === null || word.lag_bytes > Number(lag)))
    return `a yes with lag_bytes ${word.lag_bytes}, limit ${lag}`;
  const time = parameterOf(check, "lag_time");
  const limitMs = time === null ? null : Number(time.replace("ms", ""));
  if (limitMs !== null && (word.lag_ms === null || word.lag_ms > limitMs))
    return `a yes with lag_ms ${word.lag_ms}, limit ${time}`;
  return null;
}

/** HEAD answers as the GETs around it, where those agree. */
export function headDiffers(before: Said, head: Said, after: Said): string | null {
  const same = ["content-length", "x-rolecall-reason", "x-rolecall-node", "content-type"];
  const key = ({ status, headers }: Said): string => `${status} ${same.map((name) => headers.get(name)).join(" ")}`;
  if (key(before) !== key(after) || key(head) === key(before)) return null;
  return `GET ${key(before)}, HEAD ${key(head)}`;
}

/** A whole cluster's check is fit exactly when one of its nodes is, where the nodes' answers before and after agree. */
export function wholeDiffers(before: readonly Said[], whole: Said, after: readonly Said[]): string | null {
  const key = (list: readonly Said[]): string =>
    list.map(({ status, word }) => `${status} ${word?.snapshot}`).join(" ");
  if (key(before) !== key(after) || before.length === 0) return null;
  const isFit = before.some(({ status }) => status === 200);
  return isFit === (whole.status === 200)
    ? null
    : `nodes ${key(before)}, whole cluster ${whole.status} ${whole.phrase}`;
}

/**
 * Reasons that state a lack of evidence: they say nothing against open sessions. That a node is down does not either, if
 * no other node answers.
 */
const unproven = new Set(["stale", "unknown", "blind"]);

/**
 * Open sessions may live where new ones may come. A no for them is a 503 with the hard reason of the check itself,
 * unless that is soft or a lack of evidence. Both answers are of one snapshot.
 */
export function sessionsDiffer(plain: Said, sessions: Said): string | null {
  const said = `${plain.status} ${plain.phrase}, for sessions ${sessions.status} ${sessions.phrase}`;
  const [reason, stated] = [plain, sessions].map(({ headers }) => headers.get("x-rolecall-reason") ?? "");
  if (sessions.status === 200) {
    const mayLive = plain.status === 200 || soft.has(reason ?? "") || unproven.has(reason ?? "") || stated === "down";
    return mayLive && (stated === "" || stated === reason) ? null : said;
  }
  const isEvidence = hard.has(stated ?? "") && !unproven.has(stated ?? "");
  const isOwn = stated === reason || soft.has(reason ?? "") || reason === "stale";
  return sessions.status === 503 && plain.status !== 200 && isEvidence && isOwn ? null : said;
}

/** No two nodes are primary, or leader of a standby cluster, in one snapshot. */
export function twoPrimaries(answers: readonly Said[]): string | null {
  return twoFit(answers, "/primary") ?? twoFit(answers, "/standby-leader");
}

function twoFit(answers: readonly Said[], route: string): string | null {
  const fit = answers.filter(({ check, status, node }) => node !== null && routeOf(check) === route && status === 200);
  for (const one of fit) {
    const other = fit.find(
      ({ node, word }) =>
        node !== one.node && word?.snapshot === one.word?.snapshot && word?.instance === one.word?.instance,
    );
    if (other !== undefined) return `${one.node} and ${other.node} in snapshot ${one.word?.snapshot}`;
  }
  return null;
}
