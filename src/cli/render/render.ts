import { parseByteSize } from "../../cluster/values/byte-size.ts";
import { CommandError } from "../framework/command-error.ts";
import type { CommandContext } from "../framework/command-context.ts";
import { version } from "../../config/version.ts";
import { defaultSuffix, renderEnvoy } from "./envoy.ts";
import { portStep, renderHaproxy, type RenderOptions } from "./haproxy.ts";
import { renderKubernetes } from "./kubernetes.ts";
import { renderPrometheus } from "./prometheus.ts";
import { targetsFor, type Targets } from "./targets.ts";

/** `rolecall render haproxy|envoy|kubernetes|prometheus`: writes configuration for other programs. */
export async function render(context: CommandContext): Promise<void> {
  const { args, result, print } = context;
  const [kind = ""] = args.positionals;
  const options = parseRenderOptions(context);
  const targets = await targetsFor(context);
  const count = targets.clusters.reduce((sum, { nodes }) => sum + nodes.length, 0);
  result.cover("clusters", "complete", {
    detail: `${targets.clusters.length} clusters, ${count} nodes with a database address`,
  });
  const text = renderKind(context, kind, { targets, options });
  result.data = { kind, text };
  print(text);
}

function renderKind(
  { args, result }: CommandContext,
  kind: string,
  { targets, options }: { readonly targets: Targets; readonly options: RenderOptions },
): string {
  switch (kind) {
    case "haproxy":
      return renderHaproxy(targets, options);
    case "envoy":
      if (targets.hostSuffix === null) {
        result.diagnose("RC120", {
          message:
            "Envoy selects nodes by the Host header: host_suffixes in the rolecall configuration must contain " +
            defaultSuffix,
          action: `Add host_suffixes: [${defaultSuffix}] to the configuration of rolecall.`,
        });
      }
      return renderEnvoy(targets, options);
    case "prometheus":
      if (targets.admin === null)
        result.diagnose("RC120", {
          message: "the metrics of rolecall are left out: no admin listener is known",
          action: "Pass --admin HOST:PORT.",
        });
      return renderPrometheus(targets);
    default:
      return renderKubernetes(targets, args.text("image") ?? `rolecall:${version()}`);
  }
}

/** Reads the options of the rendered load balancers. @throws CommandError (RC001) if one is not valid */
function parseRenderOptions({ args }: CommandContext): RenderOptions {
  const lag = args.text("lag") ?? "10MB";
  const bind = args.text("bind") ?? "127.0.0.1";
  // These values go into files of other programs: they must not contain syntax of those files.
  if (parseByteSize(lag) === undefined || !/^[\w.]+$/.test(lag))
    throw new CommandError("RC001", `--lag must be a size such as 16kB or 10MB, got ${JSON.stringify(lag)}`);
  if (!/^[\w.:*-]+$/.test(bind))
    throw new CommandError("RC001", `--bind must be an address, got ${JSON.stringify(bind)}`);
  const portMax = 65_535 - portStep;
  return {
    bind,
    lag,
    soft: args.has("soft"),
    writePort: args.integer("write-port", 5000, [1, portMax]),
    readPort: args.integer("read-port", 5001, [1, portMax]),
  };
}
