import { resolve } from "node:path";
import * as z from "zod";
import type { ConfigOrigin } from "../../../core/config/assemble.ts";
import type { Frozen, WholeShape } from "../../../core/config/model/config.ts";
import { byteSize, duration, flag, plainText, section } from "../../../core/config/schema/value-schemas.ts";

/** The `history` mapping: what is kept on disk of the past. The directory is not resolved yet. */
const historyMapping = z
  .strictObject(
    {
      enabled: flag()
        .default(true)
        .describe("Whether the history is kept on disk, if directory or state_file is configured"),
      directory: plainText("the name of a directory", 4096)
        .nullable()
        .default(null)
        .describe(
          "Directory of past events, verdict changes and evidence. Only one process at a time may use it. " +
            "Default: the name of state_file with .history appended",
        ),
      max_size: byteSize("1MB", "1TB")
        .prefault("256MB")
        .describe("Highest size of all files of the history together. The oldest ones are deleted first"),
      max_age: duration("1min", "3650d").prefault("30d").describe("Age at which a file of the history is deleted"),
    },
    { error: "a mapping with the keys enabled, directory, max_size and max_age" },
  )
  .transform(({ enabled: isEnabled, directory, max_size: sizeMax, max_age: ageMaxMs }) => ({
    isEnabled,
    directory,
    sizeMax,
    ageMaxMs,
  }));

/** The key `history`. */
export const historySchema = section(historyMapping).describe("The record of past events and evidence on disk");

/** The history on disk: events, verdict changes and the evidence of incident files. */
export type HistoryConfig = Frozen<z.output<typeof historySchema>>;

/** The same where a history is kept: its directory is an absolute path. */
export interface HistoryDirectoryConfig extends HistoryConfig {
  readonly directory: string;
}

declare module "../../../core/config/model/config.ts" {
  interface FeatureConfigs {
    readonly history: HistoryConfig;
  }
}

/** Resolves the directory: `null` if no history is kept. */
export function completeHistory(shape: WholeShape, { folderOf }: ConfigOrigin): WholeShape {
  const { stateFile, history } = shape;
  const { isEnabled, directory: written } = history;
  const besideState = stateFile === null ? null : `${resolve(folderOf("state_file"), stateFile)}.history`;
  const place = written === null ? besideState : resolve(folderOf("history", "directory"), written);
  return { ...shape, history: { ...history, directory: isEnabled ? place : null } };
}
