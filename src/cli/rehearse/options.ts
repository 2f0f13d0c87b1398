import { readRegularFile } from "../../files/regular-file.ts";
import { countEdges } from "../compare/haproxy-sections.ts";
import { errorMessage } from "../../cluster/values/error-message.ts";
import type { CommandContext } from "../framework/command-context.ts";
import { CommandError } from "../framework/command-error.ts";
import { connectionTarget, type ConnectionTarget } from "./database/connection-target.ts";

/** The most nodes whose databases are sampled. */
const nodeTargetsMax = 20;
/** The limits of durations, in ms. */
const limitsMs = { writeTimeout: 30_000, deadline: 600_000 } as const;

/** How the leader is replaced: by a planned switchover, or by killing it with a command of the user. */
export type OutageCause =
  | { readonly kind: "switchover"; readonly candidate: string | null }
  | { readonly kind: "kill"; readonly command: string; readonly scope: string };

/** The options of `rolecall rehearse`. Times are in ms. */
export interface RehearsalOptions {
  readonly pool: ConnectionTarget;
  /** The databases of nodes, by the name of the node. */
  readonly nodeTargets: ReadonlyMap<string, ConnectionTarget>;
  readonly cause: OutageCause;
  readonly writeIntervalMs: number;
  readonly writeTimeoutMs: number;
  readonly deadlineMs: number;
  /** The longest outage that counts as a success, or `null`. */
  readonly maxOutageMs: number | null;
  /** How many instances of rolecall `--haproxy-config` sends checks to; `null` if no file says it. */
  readonly edges: number | null;
}

/** Reads the options. @throws CommandError (RC001) if one is not valid, (RC006) if a file cannot be read */
export function readRehearsalOptions(context: CommandContext): RehearsalOptions {
  const { args } = context;
  const dsn = args.text("dsn");
  if (dsn === null)
    throw new CommandError(
      "RC001",
      "--dsn must name the pool that applications write through, such as postgresql://app@127.0.0.1:5000/app, got nothing",
    );
  return {
    pool: targetOf(context, "--dsn", dsn),
    nodeTargets: nodeTargetsOf(context),
    cause: outageCause(context),
    writeIntervalMs: 1_000 / args.integer("rate", 10, [1, 100]),
    writeTimeoutMs: boundedDuration(context, "write-timeout", ["2s", limitsMs.writeTimeout]),
    deadlineMs: boundedDuration(context, "deadline", ["2min", limitsMs.deadline]),
    maxOutageMs: args.text("max-outage") === null ? null : args.duration("max-outage", "1s"),
    edges: edgesOf(args.text("haproxy-config")),
  };
}

/**
 * Counts the instances of rolecall in the file of `--haproxy-config`.
 * @throws CommandError (RC006) if it cannot be read
 */
function edgesOf(file: string | null): number | null {
  if (file === null) return null;
  try {
    return countEdges(readRegularFile(file));
  } catch (error) {
    throw new CommandError("RC006", `Cannot read --haproxy-config: ${errorMessage(error)}`);
  }
}

function targetOf({ args, io }: CommandContext, from: string, text: string): ConnectionTarget {
  return connectionTarget({ from, text, passwordFile: args.text("dsn-password-file"), env: io.env });
}

function nodeTargetsOf(context: CommandContext): ReadonlyMap<string, ConnectionTarget> {
  const given = context.args.list("node-dsn");
  if (given.length > nodeTargetsMax)
    throw new CommandError("RC001", `--node-dsn must be given at most ${nodeTargetsMax} times, got ${given.length}`);
  return new Map(
    given.map((text) => {
      const [, node, dsn] = /^([^=\s:/]+)=(.+)$/s.exec(text) ?? [];
      if (node === undefined || dsn === undefined)
        throw new CommandError(
          "RC001",
          "--node-dsn must be NAME=DSN, such as pg1=postgresql://monitor@10.0.0.1/postgres",
        );
      return [node, targetOf(context, `--node-dsn ${node}`, dsn)];
    }),
  );
}

function outageCause({ args }: CommandContext): OutageCause {
  const [command, scope, candidate] = [args.text("kill-command"), args.text("lab"), args.text("candidate")];
  if (!args.has("kill")) {
    const alone = command !== null ? "--kill-command" : scope !== null ? "--lab" : null;
    if (alone !== null) throw new CommandError("RC001", `${alone} can be used with --kill only`);
    return { kind: "switchover", candidate };
  }
  if (candidate !== null)
    throw new CommandError(
      "RC001",
      "--kill and --candidate cannot be used together: the cluster elects the new leader",
    );
  if (scope === null)
    throw new CommandError(
      "RC001",
      "--kill needs --lab SCOPE with the scope of the cluster: it kills the leader, and acknowledged writes may be lost",
    );
  if (command === null)
    throw new CommandError(
      "RC001",
      "--kill needs --kill-command COMMAND, which kills the leader: rolecall has no access to the processes of nodes",
    );
  return { kind: "kill", command, scope };
}

function boundedDuration(
  { args }: CommandContext,
  name: string,
  [fallback, maxMs]: readonly [fallback: string, maxMs: number],
): number {
  const ms = args.duration(name, fallback);
  if (ms > maxMs)
    throw new CommandError(
      "RC001",
      `--${name} must be at most ${maxMs / 1_000}s, got ${JSON.stringify(args.text(name))}`,
    );
  return ms;
}
