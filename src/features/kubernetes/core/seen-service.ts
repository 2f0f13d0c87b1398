/** A Service of Kubernetes, as this rolecall sees it published. Pure. */
import type { BalancerStatus } from "../../../core/balancing/balancer.ts";
import { countText, listText } from "../../../core/health/wording.ts";

/**
 * How a Service is published, as this rolecall sees it.
 *
 * - `unread`: the API server has not said yet what is published
 * - `unusable`: nothing can be published of it
 * - `due`: this rolecall has something to write
 * - `silent`: this rolecall says nothing
 * - `agreed`: what is published is what it says; any rolecall may have written it
 * - `left`: another one that lives has published something else
 */
export type ServiceStandingKind = "unread" | "unusable" | "due" | "silent" | "agreed" | "left";

/** The same, and since when, in ms of the monotonic clock. */
export interface ServiceStanding {
  readonly kind: ServiceStandingKind;
  readonly sinceMs: number;
}

/**
 * Why a Service does not lead where it should, or not only there.
 *
 * - `unusable`: slices cannot be written for it
 * - `claimed`: something else decides where it leads
 * - `away`: the API server does not answer, or is not able to
 * - `forbidden`: it does not let rolecall
 * - `refused`: it refuses what rolecall sends
 */
export const serviceProblemKinds = ["unusable", "claimed", "forbidden", "away", "refused"] as const;

export type ServiceProblemKind = (typeof serviceProblemKinds)[number];

/** A problem, and since when there is one of its kind, in ms of the monotonic clock. */
export interface ServiceProblem {
  readonly kind: ServiceProblemKind;
  readonly text: string;
  readonly sinceMs: number;
}

/** A Service, as this rolecall sees it published. */
export interface SeenService {
  /** `databases/orders` */
  readonly service: string;
  readonly cluster: string;
  readonly pool: string;
  readonly standing: ServiceStanding;
  /** The rolecall that has written what is published; `null`: that one has resigned, or it is not known. */
  readonly writer: string | null;
  readonly isMine: boolean;
  /** Whether clients are led elsewhere than this rolecall says. */
  readonly isMisleading: boolean;
  readonly endpoints: readonly {
    readonly ip: string;
    readonly port: number;
    readonly isReady: boolean;
    readonly isServing: boolean;
  }[];
  /** When this rolecall has written it last, in ms of the monotonic clock; `null`: it has not. */
  readonly wroteAtMs: number | null;
  readonly problems: readonly ServiceProblem[];
}

/** How long a problem that may pass by itself is none yet, in ms, and how long two rolecalls may differ. */
export const patience = { passingMs: 3_000, differingMs: 10_000 } as const;

/** The problems of a Service that last. @param nowMs of the monotonic clock */
export function lastingProblems({ problems }: Pick<SeenService, "problems">, nowMs: number): readonly ServiceProblem[] {
  return problems.filter(
    ({ kind, sinceMs }) => (kind !== "away" && kind !== "refused") || nowMs - sinceMs >= patience.passingMs,
  );
}

/** Whether another rolecall has published something else for so long that it is no change that is under way. */
export function isDiffering({ standing: { kind, sinceMs } }: Pick<SeenService, "standing">, nowMs: number): boolean {
  return kind === "left" && nowMs - sinceMs >= patience.differingMs;
}

/** The addresses that a Service leads to: `10.0.0.1:5432`. */
export function readyAddresses({ endpoints }: Pick<SeenService, "endpoints">): readonly string[] {
  return endpoints.filter(({ isReady }) => isReady).map(addressText);
}

/** An address with its port. */
export function addressText({ ip, port }: { readonly ip: string; readonly port: number }): string {
  return ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`;
}

/** How many addresses are named. */
const namedMax = 3;

/** Where a Service leads: `leads to 10.0.0.1:5432`. */
export function leadsText(seen: Pick<SeenService, "endpoints">): string {
  const ready = readyAddresses(seen);
  if (ready.length === 0) return "leads nowhere";
  return `leads to ${ready.length > namedMax ? countText(ready.length, "address") : listText(ready)}`;
}

/** A Service in words: `databases/orders leads to 10.0.0.1:5432, published by edge-2`. */
export function serviceText(seen: SeenService, nowMs: number): string {
  const { service, standing, writer, isMine } = seen;
  const [problem] = lastingProblems(seen, nowMs);
  if (problem !== undefined) return `${service}: ${problem.text}`;
  if (standing.kind === "unread") return `${service} is not known yet`;
  const by = writer === null ? "nobody" : isMine ? "this rolecall" : writer;
  const differs = isDiffering(seen, nowMs) ? "; this rolecall sees something else" : "";
  return `${service} ${leadsText(seen)}, published by ${by}${differs}`;
}

/** A Service as what is known of a balancer that verdicts are sent to. @param place where the API server is found */
export function seenBalancer(seen: SeenService, nowMs: number, place: string): BalancerStatus {
  const { service, pool, standing, writer, wroteAtMs, endpoints } = seen;
  const problems = lastingProblems(seen, nowMs);
  return {
    balancer: service,
    kind: "kubernetes",
    socket: place,
    up: problems.some(({ kind }) => kind === "away") ? false : standing.kind === "unread" ? null : true,
    version: null,
    waiting: Number(standing.kind === "due"),
    pushed_ms_ago: wroteAtMs === null ? null : Math.round(nowMs - wroteAtMs),
    published_by: writer,
    problems: problems.map(({ kind, text }) => ({ subject: kind, problem: text })),
    servers: endpoints.map(({ isReady, isServing, ...address }) => ({
      backend: pool,
      server: addressText(address),
      target: isReady ? "up" : isServing ? "drain" : "down",
      weight: null,
    })),
  };
}

/** A Service as a document, for `/status`. */
export function serviceDocument(seen: SeenService, nowMs: number): Readonly<Record<string, unknown>> {
  const { service, pool, standing, writer, isMine, wroteAtMs } = seen;
  const [problem] = lastingProblems(seen, nowMs);
  return {
    service,
    pool,
    state: isDiffering(seen, nowMs) ? "differs" : standingWords[standing.kind],
    published_by: writer,
    mine: isMine,
    ready: readyAddresses(seen),
    written_ms_ago: wroteAtMs === null ? null : Math.round(nowMs - wroteAtMs),
    problem: problem === undefined ? null : { kind: problem.kind, text: problem.text },
    text: serviceText(seen, nowMs),
  };
}

/** The words for standings in documents. */
const standingWords: Readonly<Record<ServiceStandingKind, string>> = {
  unread: "unknown",
  unusable: "unusable",
  due: "pending",
  silent: "silent",
  agreed: "published",
  // It may be a change that is under way.
  left: "published",
};
