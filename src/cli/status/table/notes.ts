import { restrictingTags } from "../../../core/cluster/values/tags.ts";
import type { JsonObject } from "../../../core/cluster/values/json.ts";
import type { DrainOverview } from "../../../core/health/documents/node-overview.ts";
import { isSevere } from "../../../core/health/conditions/cluster-condition.ts";
import { headlineOf } from "../../../core/health/documents/situation.ts";
import { countText } from "../../../core/health/wording.ts";
import type { StatusCluster, StatusNode } from "../../../core/command/client/cluster-status.ts";
import { formatKnownDuration, formatLag } from "../../../core/command/output/figures.ts";
import type { Style } from "../../../core/command/output/style.ts";
import type { ShownCluster } from "../selection/shown-cluster.ts";
import { entryText } from "./entry-text.ts";

/** The reasons that say the same as the warning before them. */
const warningReasons = ["detached", "stalled"];

/** The notes on a node: why it is unfit, its warning, its drain, and marks such as `pending restart`. */
export function nodeNotes(node: StatusNode): string {
  const { reason, warning, drain, scheduled_restart: restartAt, watchdog_failed: isUnguarded } = node;
  return [
    ...(drain === null ? [] : [drainNote(drain)]),
    ...(reason === null || ((reason === "drained" || reason === "distrusted") && drain !== null)
      ? []
      : [reasonText(node, reason)]),
    ...(node.refused.length === 0 ? [] : [refusedNote(node)]),
    ...(node.evidence === "last known" && node.lag_bytes !== null
      ? [`lag ${formatLag(node.lag_bytes)} last known`]
      : []),
    ...(warning === null || warningReasons.includes(reason ?? "") ? [] : [`warning: ${warning}`]),
    ...(node.pending_restart ? [pendingNote(node)] : []),
    ...(isUnguarded && warning?.includes("watchdog has failed") !== true ? ["watchdog failed"] : []),
    ...(restartAt === null ? [] : [`restart scheduled at ${restartAt}`]),
    // A tag may be the reason, which says it already.
    ...restrictingTags.filter((tag) => node.tags[tag] !== undefined && tag !== reason),
  ].join("; ");
}

function pendingNote({ pending_restart_reason: reasons }: StatusNode): string {
  return `pending restart${reasons.length === 0 ? "" : ` (${reasons.join(", ")})`}`;
}

/** Chooses the colour of a node's notes. */
export function paintOfNotes(node: StatusNode, style: Style): (text: string) => string {
  const { condition } = node;
  return condition === "unfit" ? style.red : condition === "warning" ? style.yellow : style.dim;
}

/** What balancers get, where their limits refuse the node: only the exceeded ones. */
function refusedNote({ asked, refused }: StatusNode): string {
  const checks = refused.map(
    ({ check, pool, reason, detail }) => `${pool ?? check}: ${reason}${detail === null ? "" : ` ${detail}`}`,
  );
  return `refused in ${refused.length} of ${countText(asked, "check")} of balancers: ${checks.join(", ")}`;
}

/** One part of the line above the nodes of a cluster. */
export interface TitlePart {
  readonly text: string;
  readonly paint: (text: string) => string;
}

/** Says in a few words how a cluster is: what is wrong, its leader, and what is planned. */
export function clusterTitle({ cluster, fitNodes }: ShownCluster, style: Style): readonly TitlePart[] {
  const { condition } = cluster.situation;
  const { leader, timeline, paused, failsafe, nodes, scheduled_switchover: plan } = cluster;
  return [
    ...(isSevere(condition) ? [{ text: condition, paint: style.red }] : []),
    leader === null ? { text: "no leader", paint: style.red } : unpaintedPart(`leader ${leader}`),
    ...(timeline === null ? [] : [unpaintedPart(`timeline ${timeline}`)]),
    ...(fitNodes === nodes.length ? [] : [{ text: `${fitNodes} of ${nodes.length} fit`, paint: style.yellow }]),
    ...(paused ? [{ text: "paused", paint: style.yellow }] : []),
    ...(failsafe ? [{ text: "failsafe", paint: style.yellow }] : []),
    ...(plan === null ? [] : [{ text: switchoverText(plan), paint: style.yellow }]),
  ];
}

/**
 * What is wrong with a cluster, since when and why; and where clients are refused, what follows. One line each.
 */
export function situationNotes({ situation }: StatusCluster, style: Style): readonly TitlePart[] {
  const { condition, next, action } = situation;
  if (condition === "ok" || situation.wrong === null) return [];
  const isBad = isSevere(condition);
  return [
    { text: headlineOf(situation), paint: isBad ? style.red : style.yellow },
    ...(isBad && next !== null ? [{ text: `next: ${next}`, paint: style.dim }] : []),
    ...(isBad && action !== null ? [{ text: `do: ${action}`, paint: style.dim }] : []),
  ];
}

/** Where balancers and poolers send clients elsewhere than they should: the worst of it, and what shows the rest. */
export function routeNotes({ routes = [], situation }: StatusCluster, style: Style): readonly TitlePart[] {
  const [worst, ...others] = routes;
  if (worst === undefined) return [];
  // The situation tells the worst already.
  if (situation.cause?.includes(worst) === true)
    return others.length === 0
      ? []
      : [{ text: `traffic: ${countText(others.length, "more finding")}: rolecall status routes`, paint: style.red }];
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  return [{ text: `traffic: ${worst}${more}: rolecall status routes`, paint: style.red }];
}

/** How many canaries that pass have a line. */
const canariesMax = 2;

/** What canaries tried: each that fails, and some that pass. */
export function canaryNotes({ canaries = [] }: StatusCluster, style: Style): readonly TitlePart[] {
  const failing = canaries.filter(({ state }) => state === "failed");
  const others = canaries.filter(({ state }) => state !== "failed");
  const shown = others.slice(0, canariesMax);
  const left = others.length - shown.length;
  return [
    ...failing.map((one) => ({ text: `canary: ${entryText(one)}`, paint: style.red })),
    ...shown.map((one) => ({ text: `canary: ${entryText(one)}`, paint: style.dim })),
    ...(left === 0 ? [] : [{ text: `canary: ${left} more that do not fail: rolecall canaries`, paint: style.dim }]),
  ];
}

/** How many Services without a problem have a line. */
const servicesMax = 2;

/** Where the Services of Kubernetes lead: each with a problem, and some of the others. */
export function serviceNotes({ services = [] }: StatusCluster, style: Style): readonly TitlePart[] {
  const wrong = services.filter(isWrongService);
  const others = services.filter((one) => !isWrongService(one));
  const left = others.length - servicesMax;
  return [
    ...wrong.map((one) => ({ text: `service: ${entryText(one)}`, paint: style.yellow })),
    ...others.slice(0, servicesMax).map((one) => ({ text: `service: ${entryText(one)}`, paint: style.dim })),
    ...(left <= 0 ? [] : [{ text: `service: ${left} more without a problem`, paint: style.dim }]),
  ];
}

function isWrongService({ problem, state }: JsonObject): boolean {
  return problem !== null || state === "differs";
}

function unpaintedPart(text: string): TitlePart {
  return { text, paint: (plain) => plain };
}

/** The detail of a failed probe repeats the node's address; one word is enough in a table. */
function reasonText({ detail, error }: StatusNode, reason: string): string {
  const cause = error !== null && ["down", "stale", "unknown"].includes(reason) ? error : detail;
  return cause === null ? reason : `${reason}: ${cause}`;
}

function switchoverText({ at, from, to }: NonNullable<StatusCluster["scheduled_switchover"]>): string {
  return `switchover${from === null ? "" : ` from ${from}`}${to === null ? "" : ` to ${to}`} scheduled at ${at}`;
}

function drainNote({ distrust, remaining_ms: ms, reason }: DrainOverview): string {
  return `${distrust ? "distrusted" : "drained"} for ${formatKnownDuration(ms)}: ${reason}`;
}
