import * as z from "zod";
import type { PgbouncerConfig } from "../../../core/config/model/config.ts";
import { parseJson } from "../../../core/cluster/values/json.ts";
import { type PauseTarget, pauseName, type RestartedNode, type SwitchoverStart } from "../machine/plan.ts";

/** A database that is about to be paused, and how its console is reached: the configuration may change meanwhile. */
export interface IntendedPause {
  readonly pooler: string;
  readonly database: string;
  readonly console: Omit<PgbouncerConfig, "processes">;
  /** Whether it was paused after a loss; absent before that, and for other runs. */
  readonly isHeld?: boolean | undefined;
}

/** What rolecall lowers in a PgBouncer while clients go on after a RESUME: `server_login_retry`. */
export interface LoweredSetting extends Pick<IntendedPause, "pooler" | "console"> {
  /** The value that has to come back. */
  readonly before: string;
}

/** What the file says. */
export interface WrittenIntents {
  readonly intents: readonly PauseIntent[];
  /** What may be lowered, one of each pooler: also after the run has ended, until it is seen to be back. */
  readonly lowered: readonly LoweredSetting[];
}

/** What one switchover may have paused, and what is needed to finish it. It holds no secret: passwords stay in their files. */
export interface PauseIntent {
  readonly run: string;
  readonly cluster: string;
  /** When everything is resumed at the latest, in ms since the epoch: another process has another clock. */
  readonly deadlineWallMs: number;
  /** What may still be paused. A target leaves the list once its RESUME is verified. */
  readonly targets: readonly IntendedPause[];
  /** How the run is finished; `null` for one that a version without this has begun: it is resumed at once. */
  readonly finish: FinishIntent | null;
}

/** What is needed to finish a run beside its targets. */
export interface FinishIntent {
  /** The number of the run: of two runs of a cluster the later one has the higher. */
  readonly generation: number;
  readonly start: SwitchoverStart;
  readonly leader: string;
  readonly candidate: string | null;
  /** Whether the switchover may have been requested: else clients go on at once, for nothing was changed. */
  readonly mayBeRequested: boolean;
  readonly evidence: PrimaryEvidence;
  /** Since when the first client waits after a loss, in ms since the epoch; absent before that, and for other runs. */
  readonly heldSinceWallMs?: number | undefined;
  /** What is restarted. Other runs do not have the key: earlier versions do not know it. */
  readonly restart?: RestartedNode | undefined;
}

/** What a new primary has to have. */
export interface PrimaryEvidence {
  /** The system identifier of the leader at the start; `null` if it was not known. */
  readonly systemIdentifier: string | null;
  /** Its timeline; `null` if it was not known. */
  readonly timeline: number | null;
}

const text = z.string().min(1).max(4_096);
const textOrNull = text.nullable();
const port = z.int().min(1).max(65_535);
const consoleSchema = z.strictObject({
  address: z.union([z.strictObject({ host: text, port }), z.strictObject({ folder: text, port })]),
  user: text,
  passwordFile: textOrNull,
  tls: z
    .strictObject({
      ca: textOrNull,
      cert: textOrNull,
      key: textOrNull,
      serverName: textOrNull,
      verify: z.enum(["full", "chain"]),
    })
    .nullable(),
});
const targetsSchema = z
  .array(z.strictObject({ pooler: text, database: text, console: consoleSchema, isHeld: z.boolean().optional() }))
  .max(16_384);
const intentShape = { run: text, cluster: text, deadlineWallMs: z.number(), targets: targetsSchema };
/** How a run is finished, as it is written to the disk and sent to peers. */
export const finishSchema = z.strictObject({
  generation: z.int().min(0),
  start: z.enum(["request", "announced", "loss", "restart"]),
  leader: z.string().max(4_096),
  candidate: textOrNull,
  mayBeRequested: z.boolean(),
  evidence: z.strictObject({ systemIdentifier: textOrNull, timeline: z.int().nullable() }),
  heldSinceWallMs: z.number().optional(),
  restart: z.strictObject({ isLeader: z.boolean(), startedAt: text }).optional(),
});
const intents2 = z.array(z.strictObject({ ...intentShape, finish: finishSchema.nullable() })).max(1_024);
const before = z.string().regex(/^\d{1,10}(\.\d{1,6})?$/);
const lowered = z.array(z.strictObject({ pooler: text, console: consoleSchema, before })).max(1_024);
const intentsSchema = z.union([
  z.strictObject({ format: z.literal(3), intents: intents2, lowered }),
  z.strictObject({
    format: z.literal(1),
    intents: z.array(z.strictObject(intentShape).transform((intent) => ({ ...intent, finish: null }))).max(1_024),
  }),
  z.strictObject({ format: z.literal(2), intents: intents2 }),
]);

/** The content of the file. Without a lowered setting an earlier version reads it, too. */
export function writtenIntents({ intents, lowered: settings }: WrittenIntents): string {
  const document = settings.length === 0 ? { format: 2, intents } : { format: 3, intents, lowered: settings };
  return `${JSON.stringify(document, null, 1)}\n`;
}

/** Reads the content of the file. @returns `undefined` if it is no list of intents */
export function parseIntents(content: string): WrittenIntents | undefined {
  const read = intentsSchema.safeParse(parseJson(content));
  if (!read.success) return undefined;
  const { data } = read;
  return { intents: data.intents, lowered: data.format === 3 ? data.lowered : [] };
}

/** The settings with those of a run that begins. What an earlier run may have lowered has its old value already. */
export function withLowered(
  known: readonly LoweredSetting[],
  added: readonly LoweredSetting[],
): readonly LoweredSetting[] {
  return [...known, ...added.filter(({ pooler }) => known.every((one) => one.pooler !== pooler))];
}

/** The intents without a target whose RESUME is verified. @param run only of this run; `null`: of all */
export function withoutTarget(
  intents: readonly PauseIntent[],
  { pooler, database }: PauseTarget,
  run: string | null = null,
): readonly PauseIntent[] {
  return withoutEmpty(
    intents.map((intent) =>
      run !== null && intent.run !== run
        ? intent
        : {
            ...intent,
            targets: intent.targets.filter((target) => target.pooler !== pooler || target.database !== database),
          },
    ),
  );
}

/** The intents with these targets of a run alone, as far as it has them. */
export function withTargets(
  intents: readonly PauseIntent[],
  run: string,
  kept: readonly PauseTarget[],
): readonly PauseIntent[] {
  const names = new Set(kept.map(pauseName));
  return withoutEmpty(
    intents.map((intent) =>
      intent.run === run
        ? { ...intent, targets: intent.targets.filter((target) => names.has(pauseName(target))) }
        : intent,
    ),
  );
}

/** An intent without any target is over. */
function withoutEmpty(intents: readonly PauseIntent[]): readonly PauseIntent[] {
  return intents.filter(({ targets }) => targets.length > 0);
}
