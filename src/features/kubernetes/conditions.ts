/** Services of Kubernetes that do not lead where they should, as conditions. Free of Node. */
import {
  type Case,
  type Condition,
  type Found,
  oneCase,
  type Told,
  type ToldCluster,
} from "../../core/health/conditions/condition.ts";
import { countText } from "../../core/health/wording.ts";
import { isDiffering, lastingProblems, type SeenService, type ServiceProblem } from "./core/seen-service.ts";
import { serviceEnds } from "./event-kinds.ts";

type Kind = keyof typeof serviceEnds | (typeof serviceEnds)[keyof typeof serviceEnds];

/** What a new process sees takes an answer of the API server. */
const found = { holds: null, isFoundLate: true, isEndKnown: () => true } as const;

/** A Service cannot be published. */
export const serviceUnpublished = {
  id: "service_unpublished",
  title: "a Service of Kubernetes cannot be published",
  harm: "missing",
  events: {
    begins: "service_unpublished",
    ends: serviceEnds.service_unpublished,
    severities: ["error", "warning"],
    endText: (cluster: string) => `the Services of ${cluster} are published again`,
    ...found,
  },
  status: { tellCase: tellUnpublished },
  alerts: ["RolecallServiceUnpublished", "RolecallKubernetesUnusable"],
} as const satisfies Condition;

/** Something else decides, too, where clients of a Service get. */
export const serviceClaimed = {
  id: "service_claimed",
  title: "something else claims a Service of Kubernetes",
  harm: "doubtful",
  events: {
    begins: "service_claimed",
    ends: serviceEnds.service_claimed,
    severities: ["warning"],
    endText: (cluster: string) => `nothing else claims the Services of ${cluster} any more`,
    ...found,
  },
  status: {
    tellCase: tellOf("something else claims a Service", {
      next: "clients reach all addresses of its slices, also those that another manager wrote",
      action:
        "Take away the other claim that is named, or give rolecall a Service with another name. Patroni that uses Endpoints needs its own",
    }),
  },
  alerts: ["RolecallServiceClaimed"],
} as const satisfies Condition;

/** Another rolecall that lives publishes something else than this one sees. */
export const serviceDiffers = {
  id: "service_differs",
  title: "two rolecalls see different members of a Service of Kubernetes",
  harm: "doubtful",
  events: {
    begins: "service_differs",
    ends: serviceEnds.service_differs,
    severities: ["warning"],
    endText: (cluster: string) => `what is published of the Services of ${cluster} is what this rolecall sees`,
    ...found,
  },
  status: {
    tellCase: tellOf("another rolecall publishes something else", {
      next: "the other one goes on to write while it renews its Lease",
      action: "Compare `rolecall status` of both: one of them does not see the databases as clients do",
    }),
  },
  alerts: ["RolecallServiceDiffers"],
} as const satisfies Condition;

/** How many Services a message names. */
const namedMax = 3;

/**
 * What is found of the Services of a cluster: one case for each condition, however many of its Services it is about.
 * @param nowMs of the monotonic clock
 * @param toOwnMs turns an instant of that into one of rolecall's clock
 */
export function servicesFound(
  services: readonly SeenService[],
  nowMs: number,
  toOwnMs: (ms: number) => number,
): readonly Found<Kind>[] {
  const claimed = services.flatMap((seen) => withProblem(seen, nowMs, (kind) => kind === "claimed"));
  const unpublished = services.flatMap((seen) => withProblem(seen, nowMs, (kind) => kind !== "claimed"));
  const differing = services.filter((seen) => isDiffering(seen, nowMs));
  const isGrave = unpublished.some(({ seen: { isMisleading, standing } }) => isMisleading && standing.kind === "due");
  return [
    ...caseOf(serviceUnpublished, unpublished, { severity: isGrave ? "error" : "warning", toOwnMs }),
    ...caseOf(serviceClaimed, claimed, { severity: "warning", toOwnMs }),
    ...caseOf(
      serviceDiffers,
      differing.map((seen) => ({
        seen,
        kind: "differs",
        text: `${seen.writer ?? "another rolecall"} publishes ${seen.service} otherwise than this rolecall sees it`,
        sinceMs: seen.standing.sinceMs,
      })),
      { severity: "warning", toOwnMs },
    ),
  ];
}

interface Wrong extends Omit<ServiceProblem, "kind"> {
  readonly seen: SeenService;
  readonly kind: string;
}

function withProblem(
  seen: SeenService,
  nowMs: number,
  isMeant: (kind: ServiceProblem["kind"]) => boolean,
): readonly Wrong[] {
  const [first] = lastingProblems(seen, nowMs).filter(({ kind }) => isMeant(kind));
  return first === undefined ? [] : [{ ...first, seen }];
}

function caseOf(
  condition: Condition<Kind>,
  wrong: readonly Wrong[],
  { severity, toOwnMs }: Pick<Case, "severity"> & { readonly toOwnMs: (ms: number) => number },
): readonly Found<Kind>[] {
  const [first] = wrong;
  if (first === undefined) return [];
  // One cause may be that of all Services of a namespace.
  const texts = [...new Set(wrong.map(({ text }) => text))];
  const more = texts.length <= namedMax ? "" : ` (and ${countText(texts.length - namedMax, "more")})`;
  const message = `${texts.slice(0, namedMax).join("; ")}${more}`;
  const told = oneCase({
    severity,
    message,
    figures: {
      problem: first.kind,
      services: wrong
        .slice(0, namedMax)
        .map(({ seen }) => seen.service)
        .join(","),
      count: wrong.length,
    },
    level: `${severity} ${first.kind}`,
    sinceMs: toOwnMs(Math.min(...wrong.map(({ sinceMs }) => sinceMs))),
  });
  return [{ condition, found: told }];
}

function tellOf(wrong: string, advice: Pick<Told, "next" | "action">): (one: Case) => ToldCluster {
  return ({ message, sinceMs }) => ({
    condition: "warning",
    wrong,
    cause: message,
    sinceMs: sinceMs ?? null,
    ...advice,
  });
}

/** What to do where a Service cannot be published, by what is wrong. */
const serviceActions: Readonly<Record<string, string>> = {
  unusable: "Create the Service without a selector and with the port that is named, or correct kubernetes.services",
  forbidden:
    "Grant the right that is named: `rolecall doctor` lists every one that is missing, docs/kubernetes-services.md has the Role",
  away: "Look at the API server of Kubernetes, and at the network between rolecall and it",
  refused: "Look at what the API server says of it: `rolecall doctor` asks it again",
};

/** What follows: a Service that is not written leads on to where it led. */
function tellUnpublished({ severity, message, sinceMs, figures: { problem } }: Case): ToldCluster {
  const action = serviceActions[String(problem)] ?? null;
  return severity === "error"
    ? {
        condition: "clients failing",
        harm: "stuck",
        wrong: "a Service leads elsewhere than it should",
        cause: message,
        sinceMs: sinceMs ?? null,
        next: "its clients get to where it led before",
        action,
      }
    : {
        condition: "warning",
        wrong: "a Service cannot be published",
        cause: message,
        sinceMs: sinceMs ?? null,
        next: "it leads on to where it leads now, whatever happens to the nodes",
        action,
      };
}
