import * as z from "zod";
import type { PgbouncerConfig } from "../../config/model/config.ts";
import { parseJson } from "../../cluster/values/json.ts";

/** A database that is about to be paused, and how its console is reached: the configuration may change meanwhile. */
export interface IntendedPause {
  readonly pooler: string;
  readonly database: string;
  readonly console: Omit<PgbouncerConfig, "processes">;
}

/** What one switchover may have paused, and until when. It holds no secret: passwords stay in their files. */
export interface PauseIntent {
  readonly run: string;
  readonly cluster: string;
  /** When everything is resumed at the latest, in ms since the epoch: another process has another clock. */
  readonly deadlineWallMs: number;
  /** What may still be paused. A target leaves the list once its RESUME is verified. */
  readonly targets: readonly IntendedPause[];
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
const intentsSchema = z.strictObject({
  format: z.literal(1),
  intents: z
    .array(
      z.strictObject({
        run: text,
        cluster: text,
        deadlineWallMs: z.number(),
        targets: z.array(z.strictObject({ pooler: text, database: text, console: consoleSchema })).max(16_384),
      }),
    )
    .max(1_024),
});

/** The intents as the content of their file. */
export function writtenIntents(intents: readonly PauseIntent[]): string {
  return `${JSON.stringify({ format: 1, intents }, null, 1)}\n`;
}

/** Reads the content of the file. @returns `undefined` if it is no list of intents */
export function parseIntents(content: string): readonly PauseIntent[] | undefined {
  const read = intentsSchema.safeParse(parseJson(content));
  return read.success ? read.data.intents : undefined;
}

/** The intents without a target whose RESUME is verified. An intent without any target is over. */
export function withoutTarget(
  intents: readonly PauseIntent[],
  run: string,
  { pooler, database }: Pick<IntendedPause, "pooler" | "database">,
): readonly PauseIntent[] {
  return intents.flatMap((intent) => {
    if (intent.run !== run) return [intent];
    const targets = intent.targets.filter((target) => target.pooler !== pooler || target.database !== database);
    return targets.length === 0 ? [] : [{ ...intent, targets }];
  });
}
