import { parseByteSize } from "../../../core/cluster/values/byte-size.ts";
import { parseDuration } from "../../../core/cluster/values/duration.ts";
import { CommandError } from "../../../core/command/framework/command-error.ts";
import type { Arguments } from "../../../core/command/framework/arguments.ts";
import { parseRenderOptions } from "../../../core/command/render/options.ts";
import { deployFile } from "../output/deploy-file.ts";

/** What the rendered alert rules depend on. */
interface AlertOptions {
  /** The name of the Prometheus job that scrapes rolecall. */
  readonly job: string;
  /** The lag of a replica in bytes above which it is reported. */
  readonly lagBytes: number;
  /** The lag of a replica in seconds above which it is reported; `null`: not reported. */
  readonly lagSeconds: number | null;
  /** The base of links to the documentation, with a slash at the end. */
  readonly docs: string;
}

/**
 * Renders the file of alert and recording rules for Prometheus. They hold for every cluster that rolecall serves.
 * @throws CommandError (RC006) if this installation of rolecall lacks the file
 */
export function renderAlerts({ job, lagBytes, lagSeconds, docs }: AlertOptions): string {
  const orLagsInTime = " or cluster_node:rolecall_lag_seconds:min > ";
  return deployFile("prometheus/rolecall-rules.yml", [
    ['job="rolecall"', `job="${job}"`],
    ["rolecall_lag_bytes:min > 10485760", `rolecall_lag_bytes:min > ${lagBytes}`],
    [`${orLagsInTime}10)`, lagSeconds === null ? ")" : `${orLagsInTime}${lagSeconds})`],
    [`${ownDocs}alerts.md#`, `${docs}alerts.md#`],
  ]);
}

/** The documents of the package itself, as `explain` and the log name them. */
const ownDocs = "docs/";

/**
 * Reads the options of the rendered alert rules.
 * @throws CommandError (RC001) if one is not valid
 */
export function parseAlertOptions(args: Arguments): AlertOptions {
  const { lag, lagTime } = parseRenderOptions(args);
  const lagMs = lagTime === null ? null : (parseDuration(lagTime) ?? null);
  return {
    job: parseJob(args),
    lagBytes: parseByteSize(lag) ?? 0,
    lagSeconds: lagMs === null ? null : lagMs / 1000,
    docs: parseDocs(args),
  };
}

/**
 * Reads `--job`: the name of the Prometheus job that scrapes rolecall.
 * @throws CommandError (RC001) if it has characters that are syntax of PromQL
 */
export function parseJob(args: Arguments): string {
  const job = args.text("job") ?? "rolecall";
  if (!/^[\w.:/-]+$/.test(job))
    throw new CommandError("RC001", `--job must have letters, digits and _ . : / - only, got ${JSON.stringify(job)}`);
  return job;
}

function parseDocs(args: Arguments): string {
  const docs = args.text("docs") ?? ownDocs;
  // Where it stands, YAML reads an @ at its start as syntax.
  if (!/^(?!@)[\w.:/@~+-]+$/.test(docs))
    throw new CommandError(
      "RC001",
      `--docs must be a path or URL such as https://wiki.example.org/rolecall/, got ${JSON.stringify(docs)}`,
    );
  return docs.endsWith("/") ? docs : `${docs}/`;
}
