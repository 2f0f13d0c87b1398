import { version } from "../../../config/version.ts";
import type { Arguments } from "../../../command/framework/arguments.ts";
import { CommandError } from "../../../command/framework/command-error.ts";

/** What the rendered manifests depend on. */
export interface KubernetesOptions {
  readonly image: string;
  /** The namespace of rolecall; `null`: that of `kubectl apply`. */
  readonly namespace: string | null;
  /** The namespace of the database pods; `null`: the one of rolecall. */
  readonly databaseNamespace: string | null;
  /** The labels of the database pods; `null`: `cluster-name` with the scope of the cluster, as Patroni sets it. */
  readonly selector: Readonly<Record<string, string>> | null;
  /** Whether the databases run outside Kubernetes, so that their addresses stay what they are. */
  readonly isExternal: boolean;
}

/**
 * Reads the options of the rendered manifests.
 * @throws CommandError (RC001) if one is not valid
 */
export function parseKubernetesOptions(args: Arguments): KubernetesOptions {
  return {
    image: args.text("image") ?? `rolecall:${version()}`,
    namespace: label(args, "namespace"),
    databaseNamespace: label(args, "database-namespace"),
    selector: parseSelector(args),
    isExternal: args.has("external-databases"),
  };
}

function label(args: Arguments, option: string): string | null {
  const text = args.text(option);
  if (text === null || (text.length <= 63 && /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(text))) return text;
  throw new CommandError(
    "RC001",
    `--${option} must be at most 63 lower-case letters, digits and hyphens, got ${JSON.stringify(text)}`,
  );
}

function parseSelector(args: Arguments): KubernetesOptions["selector"] {
  const text = args.text("database-selector");
  if (text === null) return null;
  const pairs = text.split(",").map((pair) => pair.split("="));
  const isValid = pairs.every(
    ([key = "", value = "", ...rest]) =>
      rest.length === 0 && /^([a-z0-9.-]+\/)?[\w.-]{1,63}$/i.test(key) && /^[\w.-]{1,63}$/.test(value),
  );
  if (!isValid)
    throw new CommandError(
      "RC001",
      `--database-selector must be LABEL=VALUE[,LABEL=VALUE], got ${JSON.stringify(text)}`,
    );
  return Object.fromEntries(pairs.map(([key = "", value = ""]) => [key, value]));
}
