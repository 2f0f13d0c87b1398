import { documentMax } from "../../../core/cluster/documents/document-sizes.ts";
import * as z from "zod";
import type { DcsRead, DcsState, Withdrawal } from "../../../core/cluster/dcs.ts";
import type { Drain } from "../../../core/cluster/drain.ts";
import { configFields, dcsFields, drainFields } from "../../../core/cluster/evidence/evidence-fields.ts";
import { historyRowsMax } from "../../../core/cluster/documents/history.ts";
import type { Leadership } from "../../../core/cluster/leadership.ts";
import type { CachedDocument, ClusterState, LeaderPosition, LeaderStatement } from "../../../core/cluster/snapshot.ts";
import { schemaOfFields } from "../../../core/outcomes/field-schemas.ts";
import { contactSchema, failureSchema, observationSchema, sentForms, viewSchema } from "./observation-schema.ts";
import {
  sentFigure,
  sentFigureOrNull,
  sentFlag,
  instantsBy,
  type InstantSchemas,
  sentList,
  mapOf,
  sentText,
  sentTextOrNull,
  type FollowerTimes,
} from "./state-values.ts";

/** The version of the form of a state. A follower that knows another one probes the cluster first. */
export const stateForm = 2;

/** What an owner knows of a cluster and its follower does not: the rest follows from it. */
export type SentState = Omit<ClusterState, "index" | "source" | "sequence" | "revision">;

/** Names each position of a list. */
function indexOf(nodes: ClusterState["nodes"]): ClusterState["index"] {
  return new Map(nodes.map(({ node }, at) => [node.name, at]));
}

/**
 * The whole state of a cluster, as `writtenState` writes it.
 * @param times are asked for each instant
 */
export function clusterStateSchema(times: FollowerTimes): z.ZodType<ClusterState> {
  const instants = instantsBy(times);
  const { instant } = instants;
  const nodes = sentList(observationSchema(times));
  return z
    .object({
      name: sentText,
      scope: sentTextOrNull,
      nodes,
      isMembershipKnown: sentFlag,
      hasAskedAll: sentFlag,
      contacts: mapOf(contactSchema(times)),
      addressDisputes: mapOf(sentList(sentText)),
      hasListedProof: sentFlag.default(false),
      lockClaims: sentList(z.number()),
      leadership: leadershipSchema(instant),
      leaderViews: mapOf(viewSchema(times)),
      failedViews: mapOf(instant),
      position: positionSchema(instants.deadline).nullable(),
      statedOn: z.object({ leader: sentText, timeline: sentFigureOrNull, sinceMs: instant }).nullable(),
      positionSamples: sentList(z.object({ atMs: instant, position: sentFigure })),
      lastStatement: statementSchema(instants, nodes).nullable(),
      newestReportAtMs: instant,
      drains: mapOf(drainSchema(instants.deadline)),
      dcs: dcsSchema(instant).nullable(),
      documents: z.object({
        cluster: documentSchema(instant).nullable(),
        config: documentSchema(instant).nullable(),
        history: documentSchema(instant).nullable(),
        failsafe: documentSchema(instant).nullable(),
      }),
      config: schemaOfFields(configFields, "feed", sentForms).nullable(),
      switchPoints: z
        .array(z.tuple([sentFigure, sentFigure]))
        .max(historyRowsMax)
        .transform((points) => new Map(points))
        .nullable(),
    })
    .transform((state) => ({ ...state, index: indexOf(state.nodes), source: null, sequence: 0, revision: 0 }));
}

/** The state of a cluster without what the follower derives itself. */
export function sentStateOf(cluster: ClusterState): SentState {
  const { index: _, source: __, sequence: ___, revision: ____, ...state } = cluster;
  return state;
}

function leadershipSchema(instant: z.ZodType<number>): z.ZodType<Leadership> {
  const refused = z.object({ api: sentText, beside: sentText, viewSentAtMs: instant });
  return z.object({
    decision: z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("unclaimed"), lastHolder: sentTextOrNull }),
      z.object({
        kind: z.literal("held"),
        holder: sentText,
        by: z.enum(["sole", "views", "own_view", "incumbent", "timeline", "receivers"]),
        witnesses: sentList(sentText),
      }),
      z.object({ kind: z.literal("contested"), between: sentList(sentText) }),
      z.object({ kind: z.literal("lost") }),
    ]),
    lostClaims: mapOf(
      z
        .object({
          viewSentAtMs: instant,
          witnesses: sentList(sentText),
          withdrawal: withdrawalSchema(instant).optional(),
          refused: refused.optional(),
        })
        .transform(({ withdrawal, refused: mark, ...loss }) => ({
          ...loss,
          ...(withdrawal === undefined ? {} : { withdrawal }),
          ...(mark === undefined ? {} : { refused: mark }),
        })),
    ),
    refusedClaims: mapOf(refused),
    incumbent: sentTextOrNull,
    heldSinceMs: instant.nullable(),
    lastLoss: z.object({ node: sentText, atMs: instant }).nullable(),
    savedClaim: z.object({ node: sentText, api: sentText, system: sentTextOrNull, atMs: instant }).nullable(),
  });
}

const withdrawalSchema = (instant: z.ZodType<number>): z.ZodType<Withdrawal> =>
  z.object({ member: sentText, namedInstead: sentTextOrNull, readAtMs: instant });

const positionSchema = (deadline: z.ZodType<number>): z.ZodType<LeaderPosition> =>
  z.object({
    system: sentTextOrNull,
    timeline: sentFigureOrNull,
    highest: sentFigure,
    peak: z.object({ leader: sentText, highest: sentFigure, last: sentFigure }).nullable(),
    shared: sentList(z.object({ timeline: sentFigure, upTo: sentFigure })),
    pageUntilMs: deadline.optional(),
  });

const statementSchema = (
  { instant, deadline }: InstantSchemas,
  nodes: z.ZodType<ClusterState["nodes"]>,
): z.ZodType<LeaderStatement> =>
  z.object({
    by: sentText,
    leader: sentText,
    sentAtMs: instant,
    evidence: z.object({ nodes }).transform((evidence) => ({ ...evidence, index: indexOf(evidence.nodes) })),
    sampledAtMs: instant,
    countsFromMs: deadline,
    free: z.object({ fromMs: deadline, untilMs: deadline }).nullable(),
    isUnbroken: sentFlag,
    stoppedAtMs: instant.nullable(),
    returned: z
      .object({
        stoppedAtMs: instant,
        heldAtMs: instant,
        last: sentFigure,
        timeline: sentFigureOrNull,
        position: sentFigure,
        untilMs: deadline,
        held: sentList(sentText),
      })
      .nullable(),
  });

const drainSchema = (deadline: z.ZodType<number>): z.ZodType<Drain> =>
  schemaOfFields(drainFields, "feed", { ...sentForms, end: deadline });

const readSchema: z.ZodType<DcsRead> = schemaOfFields(dcsFields, "feed", sentForms);

const dcsSchema = (instant: z.ZodType<number>): z.ZodType<DcsState> =>
  z.object({
    isUp: sentFlag,
    failure: failureSchema.nullable(),
    read: readSchema.and(z.object({ sentAtMs: instant })).nullable(),
    lastNamed: sentTextOrNull,
    withdrawals: mapOf(withdrawalSchema(instant)),
    distrust: z.object({ withdrawal: withdrawalSchema(instant), sinceMs: instant }).nullable(),
  });

const documentSchema = (instant: z.ZodType<number>): z.ZodType<CachedDocument> =>
  z.object({ status: sentFigure, body: z.string().max(documentMax.other), source: sentText, sentAtMs: instant });
