import { fetchStatusFrom } from "../client/cluster-status.ts";
import { RolecallClient } from "../client/rolecall-client.ts";
import type { CommandContext } from "../framework/command-context.ts";
import { CommandError } from "../framework/command-error.ts";

/**
 * The cluster that the command names: as its argument, or with `--cluster`; `null` if it names none.
 * @throws CommandError (RC001) if it names two
 */
export function namedCluster({ args }: CommandContext): string | null {
  return oneOf(["the argument CLUSTER", args.positionals[0] ?? null], ["--cluster", args.text("cluster")]);
}

/** The node that should lead: `--to`, or `--candidate`; `null` if neither is given. @throws CommandError (RC001) */
export function namedCandidate({ args }: CommandContext): string | null {
  return oneOf(["--to", args.text("to")], ["--candidate", args.text("candidate")]);
}

/**
 * The name of the only cluster, as an admin listener has it: health listeners need it in a path, unless they answer for
 * one cluster. `null` if there are several, or no admin listener answers.
 */
export async function onlyCluster(context: CommandContext): Promise<string | null> {
  try {
    const { clusters } = await fetchStatusFrom(new RolecallClient(context, "admin"));
    return clusters.length === 1 ? (clusters[0]?.cluster ?? null) : null;
  } catch (error) {
    if (error instanceof CommandError) return null;
    throw error;
  }
}

type Given = readonly [name: string, value: string | null];

function oneOf([name, value]: Given, [otherName, other]: Given): string | null {
  if (value !== null && other !== null && value !== other)
    throw new CommandError("RC001", `${name} and ${otherName} must be the same, got ${value} and ${other}`);
  return value ?? other;
}
