import * as z from "zod";
import { byteSize, duration, flag, plainText } from "./value-schemas.ts";

const levels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
const formats = ["auto", "json", "pretty"] as const;

/** The `log` mapping. */
export const logSchema = z.strictObject(
  {
    level: z
      .enum(levels, { error: `one of ${levels.join(", ")}` })
      .default("info")
      .describe("The lowest level that is written"),
    format: z
      .enum(formats, { error: `one of ${formats.join(", ")}` })
      .default("auto")
      .describe(
        "json: one JSON object per line. pretty: lines for people. auto: pretty if stderr is a terminal, else json. " +
          "A change needs a restart",
      ),
  },
  { error: "a mapping with the keys level and format" },
);

/** The `history` mapping: what is kept on disk of the past. The directory is not resolved yet. */
export const historySchema = z
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
            "Default: the name of state_file with .history appended; without state_file nothing is kept on disk",
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
