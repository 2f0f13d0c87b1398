import { parseByteSize } from "../../cluster/values/byte-size.ts";
import { CommandError } from "../framework/command.ts";
import type { CommandContext } from "../framework/command-context.ts";
import { version } from "../../config/version.ts";
import { defaultSuffix, renderEnvoy } from "./envoy.ts";
import { portStep, renderHaproxy, type RenderChoices } from "./haproxy.ts";
import { renderKubernetes } from "./kubernetes.ts";
import { renderPrometheus } from "./prometheus.ts";
import { targetsFor, type Targets } from "./targets.ts";

/** `rolecall render haproxy|envoy|kubernetes|prometheus`: configuration, ready to be used, for the clusters known. */
export async function render(context: CommandContext): Promise<void> {
  const { args, result, print } = context;
  const [kind = ""] = args.positionals;
  const choices = choicesOf(context);
  const targets = await targetsFor(context);
  const count = targets.clusters.reduce((sum, { nodes }) => sum + nodes.length, 0);
  result.cover("clusters", "complete", {
    detail: `${targets.clusters.length} clusters, ${count} nodes with a database address`,
  });
  const text = rendered(context, kind, { targets, choices });
  result.data = { kind, text };
  print(text);
}

function rendered(
  { args, result }: CommandContext,
  kind: string,
  { targets, choices }: { readonly targets: Targets; readonly choices: RenderChoices },
): string {
  switch (kind) {
    case "haproxy":
      return renderHaproxy(targets, choices);
    case "envoy":
      if (targets.hostSuffix === null) {
        result.diagnose("RC120", {
          message: `Envoy names nodes by Host: host_suffixes of rolecall's configuration must hold ${defaultSuffix}`,
          action: `Add host_suffixes: [${defaultSuffix}].`,
        });
      }
      return renderEnvoy(targets, choices);
    case "prometheus":
      if (targets.admin === null)
        result.diagnose("RC120", {
          message: "rolecall's own metrics are left out: no admin listener is known",
          action: "Say --admin HOST:PORT.",
        });
      return renderPrometheus(targets);
    default:
      return renderKubernetes(targets, args.text("image") ?? `rolecall:${version()}`);
  }
}

/** What the options choose, or their defaults. @throws Stop where one cannot be used */
export function choicesOf({ args }: CommandContext): RenderChoices {
  const lag = args.text("lag") ?? "10MB";
  const bind = args.text("bind") ?? "127.0.0.1";
  // What is written into a file of another program must not be more than what it seems.
  if (parseByteSize(lag) === undefined || !/^[\w.]+$/.test(lag))
    throw new CommandError("RC001", `--lag must be a size such as 16kB, 10MB: it is ${JSON.stringify(lag)}`);
  if (!/^[\w.:*-]+$/.test(bind))
    throw new CommandError("RC001", `--bind must be an address: it is ${JSON.stringify(bind)}`);
  const most = 65_535 - portStep;
  return {
    bind,
    lag,
    soft: args.has("soft"),
    writePort: args.integer("write-port", 5000, [1, most]),
    readPort: args.integer("read-port", 5001, [1, most]),
  };
}
