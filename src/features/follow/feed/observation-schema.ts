import * as z from "zod";
import type { Attachment, Measured } from "../../../core/cluster/attachment.ts";
import type { CompanionEvidence } from "../../../core/cluster/companion.ts";
import type { Contact } from "../../../core/cluster/contact.ts";
import { unreadableFields, type Report } from "../../../core/cluster/documents/report.ts";
import type { ExporterEvidence } from "../../../core/cluster/exporter/exporter-evidence.ts";
import { exporterRoles } from "../../../core/cluster/exporter/exporter-report.ts";
import type { Node } from "../../../core/cluster/node.ts";
import type { Observation } from "../../../core/cluster/observation.ts";
import { failureKinds, type Failure } from "../../../core/cluster/values/failure.ts";
import type { WitnessView } from "../../../core/cluster/witness-view.ts";
import { pageSchema } from "../../../core/outcomes/outcome-codec.ts";
import { schemaOfFields, storedForms, type FormSchemas } from "../../../core/outcomes/field-schemas.ts";
import { reportFields, senderFields } from "../../../core/cluster/evidence/evidence-fields.ts";
import {
  detailMax,
  sentFigure,
  sentFigureOrNull,
  sentFlag,
  sentInstant,
  instantsBy,
  sentList,
  mapOf,
  sentText,
  sentTextOrNull,
  type FollowerTimes,
} from "./state-values.ts";

/** Why a request failed. */
export const failureSchema: z.ZodType<Failure> = z.object({
  kind: z.enum(failureKinds),
  detail: z.string().transform((detail) => detail.slice(0, detailMax)),
});

const nodeSchema: z.ZodType<Node> = z.object({
  name: sentText,
  member: sentText,
  isMemberFixed: sentFlag,
  api: sentTextOrNull,
  exporter: sentTextOrNull,
  database: z.object({ host: sentText, port: z.number() }).nullable(),
  isArchiveFed: sentFlag,
  zone: sentTextOrNull,
  isFixed: sentFlag,
});

/** What a state has of each form of evidence: pages as the history has them. */
export const sentForms: FormSchemas = {
  ...storedForms,
  text: sentText,
  textOrNull: sentTextOrNull,
  flag: sentFlag,
  count: sentFigure,
  countOrNull: sentFigureOrNull,
  figureOrNull: sentFigureOrNull,
  timeOrNull: sentFigureOrNull,
  position: sentFigureOrNull,
  seconds: sentFigure,
  tags: mapOf(z.object({ text: sentText, isTrue: sentFlag })),
  senders: sentList(schemaOfFields(senderFields, "feed", { text: sentText, textOrNull: sentTextOrNull })),
  unreadable: sentList(z.enum(unreadableFields)),
};

/** A node's report as the owner has read it. */
const reportSchema: z.ZodType<Report> = schemaOfFields(reportFields, "feed", sentForms);

const measuredSchema = (deadline: z.ZodType<number>): z.ZodType<Measured> =>
  z.object({
    leader: sentFigure,
    isLowerBound: sentFlag,
    origin: z.object({ highest: sentFigure, isLowerBound: sentFlag }).nullable(),
    timeline: sentFigureOrNull,
    received: sentFigureOrNull,
    replayed: sentFigureOrNull,
    heldUntilMs: deadline.nullable(),
  });

const attachmentSchema = (instant: z.ZodType<number>): z.ZodType<Attachment> =>
  z.object({
    received: sentFigureOrNull,
    replayed: sentFigureOrNull,
    timeline: sentFigureOrNull,
    replayedSinceMs: instant.nullable(),
    silentMs: sentFigure,
    listedMs: sentFigure,
    lowerTimelineMs: sentFigure,
    pastSinceMs: instant.nullable(),
    isDetached: sentFlag,
    isStalled: sentFlag,
    isOffTimeline: sentFlag,
    ahead: z.object({ replayed: sentFigure, sinceMs: instant, leaderAt: sentFigureOrNull }).nullable(),
    idleLeader: z.object({ leader: sentText, api: sentTextOrNull, location: sentFigure, sinceMs: instant }).nullable(),
    setBack: z.object({ leader: sentText, api: sentText, startedAt: sentText, replayed: sentFigure }).nullable(),
    fork: z
      .object({
        upTo: sentFigure,
        isEndKnown: sentFlag,
        window: z.object({ sinceMs: instant, replayed: sentFigure }).nullable(),
      })
      .nullable(),
  });

const exporterSchema = (instant: z.ZodType<number>): z.ZodType<ExporterEvidence> =>
  z.object({
    up: z.object({ role: z.enum(exporterRoles), sentAtMs: instant }).nullable(),
    page: pageSchema.nullable(),
    pageSentAtMs: instant,
    hasAdvanced: sentFlag.nullable(),
    provenAtMs: instant,
    diskWait: z
      .object({
        kind: z.enum(["wal", "files", "unflushed"]),
        sinceMs: instant,
        pages: sentFigure,
        sessions: sentFigure,
        position: sentFigure,
        unflushedBytes: sentFigure,
      })
      .nullable(),
    upFailure: failureSchema.nullable(),
    pageFailure: failureSchema.nullable(),
  });

const companionSchema = (instant: z.ZodType<number>): z.ZodType<CompanionEvidence> =>
  z.object({
    sentAtMs: instant,
    failuresInRow: sentFigure,
    failedAtMs: instant,
    answersInRow: sentFigure,
    failure: failureSchema.nullable(),
    isDown: sentFlag,
  });

/** What is known of one node. */
export function observationSchema(times: FollowerTimes): z.ZodType<Observation> {
  const instants = instantsBy(times);
  const { instant } = instants;
  return z.object({
    node: nodeSchema,
    proof: z.enum(["none", "seed", "proved", "settled"]),
    report: reportSchema.nullable(),
    hasLock: sentFlag,
    sentAtMs: instant,
    sentAtWallMs: sentInstant,
    claimedSinceMs: instant.nullable(),
    deniedSinceMs: instant.nullable(),
    lastHeldAtMs: instant.nullable(),
    measured: measuredSchema(instants.deadline).nullable(),
    failuresInRow: sentFigure,
    failedAtMs: instant,
    answersInRow: sentFigure,
    failure: failureSchema.nullable(),
    isDown: sentFlag,
    liveness: z.object({ isAlive: sentFlag, sentAtMs: instant, sinceMs: instant }).nullable(),
    countedAtMs: instant,
    attachment: attachmentSchema(instant),
    isNamed: sentFlag,
    stray: z.object({ beside: sentText, sinceMs: instant, isConfirmed: sentFlag }).nullable(),
    dcsContact: z.object({ seen: sentFigure, statedSinceMs: instant, formerForMs: sentFigureOrNull }).nullable(),
    // Absent in feeds of instances that do not know it.
    pausedSinceMs: instant.nullable().default(null),
    dampedLag: z
      .object({
        bytes: sentFigure,
        timeMs: sentFigure,
        samples: sentList(z.object({ sentAtMs: instant, bytes: sentFigureOrNull, timeMs: sentFigureOrNull })),
      })
      .nullable(),
    listedAtMs: instant,
    exporter: exporterSchema(instant).nullable(),
    companions: mapOf(companionSchema(instant)),
  });
}

const memberSchema = z.object({
  name: sentText,
  api: sentText,
  host: sentTextOrNull,
  port: sentFigureOrNull,
  behind: sentFigureOrNull,
  position: sentFigureOrNull,
  isSync: sentFlag.optional(),
});

const leftOutSchema = z.object({
  member: sentText,
  cause: z.enum(["no_address", "shared_address", "unusable_name", "repeated_name", "past_limit"]),
});

/** Who leads according to one node. */
export function viewSchema(times: FollowerTimes): z.ZodType<WitnessView> {
  const { instant } = instantsBy(times);
  return z.object({
    leader: sentTextOrNull,
    names: sentTextOrNull,
    timeline: sentFigureOrNull,
    sentAtMs: instant,
    received: sentFigureOrNull,
    isReceiving: sentFlag,
    answeredAtMs: instant,
    repeatedAtMs: sentList(instant),
    namesAt: sentTextOrNull,
    members: mapOf(memberSchema),
    unaddressed: sentList(sentText).transform((names) => new Set(names)),
    leftOut: sentList(leftOutSchema),
    isPartial: sentFlag.default(false),
  });
}

/** What is known of a server at an address that no proved node has. */
export function contactSchema(times: FollowerTimes): z.ZodType<Contact> {
  const { instant } = instantsBy(times);
  return z.object({
    wasAsked: sentFlag,
    answer: z
      .object({ report: reportSchema, hasLock: sentFlag, sentAtMs: instant, sentAtWallMs: sentInstant })
      .nullable(),
    view: viewSchema(times).nullable(),
    namedInRow: sentFigure.default(0),
    failuresInRow: sentFigure,
    failure: failureSchema.nullable().default(null),
    listedAtMs: instant,
  });
}
