/** That a PgBouncer of the configuration does not answer, as a condition. Free of Node. */
import {
  type Case,
  type Condition,
  oneCase,
  type Found,
  type ToldCluster,
} from "../../core/health/conditions/condition.ts";
import { countText, listText } from "../../core/health/wording.ts";
import { poolerEnds } from "./event-kinds.ts";

/** A PgBouncer through which clients come does not answer them. */
export const poolerDown = {
  id: "pooler_down",
  title: "a pooler does not answer",
  harm: "missing",
  events: {
    begins: "pooler_down",
    ends: poolerEnds.pooler_down,
    severities: ["error", "warning"],
    holds: null,
    endText: (cluster: string) => `all poolers of ${cluster} answer again`,
    // It has to fail several checks.
    isFoundLate: true,
    isEndKnown: () => true,
  },
  status: { tellCase: tellPoolers },
  rule: "RC056",
  alerts: ["RolecallPoolerDown", "RolecallNoPooler"],
} as const satisfies Condition;

/** What is known of a pooler of a cluster. */
export interface KnownPooler {
  readonly pooler: string;
  readonly address: string;
  /** Why it does not answer, and since when, in ms of rolecall's clock; `null` while it is not known to be dead. */
  readonly dead: { readonly problem: string; readonly sinceMs: number } | null;
}

/** A pooler that does not answer, in words; without a full stop. */
export function deadPoolerText({ pooler, address }: KnownPooler, problem: string): string {
  return `pooler ${pooler} at ${address} does not answer: ${problem}`;
}

/** What is found of a cluster: one case for all of its poolers. @param poolers those that lead to it */
export function poolersFound(
  cluster: string,
  poolers: readonly KnownPooler[],
): readonly Found<"pooler_down" | "pooler_up">[] {
  const down = poolers.flatMap((one) => (one.dead === null ? [] : [{ ...one, ...one.dead }]));
  const [first] = down;
  if (first === undefined) return [];
  const isLastRoad = down.length === poolers.length;
  const answering = poolers.length - down.length;
  const texts = down.map((one) => deadPoolerText(one, one.problem));
  const cause = listText(texts);
  const left = isLastRoad ? "no pooler" : countText(answering, "pooler");
  const names = down.map(({ pooler }) => pooler).join(",");
  const found = oneCase({
    severity: isLastRoad ? "error" : "warning",
    about: down.map(({ pooler }) => pooler),
    message: `${left} of ${cluster} ${isLastRoad || answering === 1 ? "answers" : "answer"}: ${cause}`,
    cause,
    figures: { poolers: names, down: down.length, of: poolers.length, address: first.address },
    level: `${isLastRoad ? "all" : "some"} ${names}`,
    sinceMs: Math.min(...down.map((one) => one.sinceMs)),
  });
  return [{ condition: poolerDown, found }];
}

/** Whether an address is that of a Unix socket. */
function isSocket(address: string): boolean {
  return address.startsWith("/");
}

/** What the status says: where no pooler is left, clients fail, however healthy the nodes are. */
function tellPoolers({ severity, cause, sinceMs: since, figures: { down, of, address } }: Case): ToldCluster {
  const sinceMs = since ?? null;
  const action = `Look at PgBouncer on ${address} and its log: start it if it has ended, and restart it if it hangs${isSocket(String(address)) ? "" : "; else look at the network between rolecall and it"}`;
  return severity === "error"
    ? {
        condition: "clients failing",
        harm: "stuck",
        wrong: "no pooler answers",
        cause,
        sinceMs,
        next: "no client that connects through a pooler is served until one answers",
        action,
      }
    : {
        condition: "degraded",
        wrong: `${down} of ${countText(Number(of), "pooler")} out`,
        cause,
        sinceMs,
        next: "clients that connect through it are not served until it answers",
        action,
      };
}
