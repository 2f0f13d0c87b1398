import { CommandError } from "../framework/command-error.ts";
import type { CommandContext } from "../framework/command-context.ts";

/**
 * The cluster that the command names: as its argument, or with `--cluster`; `null` if it names none.
 * @throws CommandError (RC001) if it names two
 */
export function namedCluster({ args }: CommandContext): string | null {
  return theOneGiven(["the argument CLUSTER", args.positionals[0] ?? null], ["--cluster", args.text("cluster")]);
}

/** The node that should lead: `--to`, or `--candidate`; `null` if neither is given. @throws CommandError (RC001) */
export function namedCandidate({ args }: CommandContext): string | null {
  return theOneGiven(["--to", args.text("to")], ["--candidate", args.text("candidate")]);
}

type Given = readonly [name: string, value: string | null];

function theOneGiven([name, value]: Given, [otherName, other]: Given): string | null {
  if (value !== null && other !== null && value !== other)
    throw new CommandError("RC001", `${name} and ${otherName} must be the same, got ${value} and ${other}`);
  return value ?? other;
}
