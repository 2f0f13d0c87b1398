import { isLocal } from "../client/cluster-status.ts";
import type { CommandContext } from "../framework/command-context.ts";
import { CommandError } from "../framework/command-error.ts";
import { version } from "../../config/version.ts";
import { renderEnvoy } from "./envoy.ts";
import { renderHaproxy } from "./haproxy.ts";
import { renderKubernetes } from "./kubernetes.ts";
import { parseRenderOptions, type RenderOptions } from "./options.ts";
import { renderPatroni } from "./patroni.ts";
import { renderPrometheus } from "./prometheus.ts";
import { targetsFor, type Targets } from "./targets.ts";

/** `rolecall render haproxy|envoy|kubernetes|prometheus|patroni`: writes configuration for other programs. */
export async function render(context: CommandContext): Promise<void> {
  const { args, result, print } = context;
  const [kind = ""] = args.positionals;
  const options = parseRenderOptions(args);
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
  context: CommandContext,
  kind: string,
  { targets, options }: { readonly targets: Targets; readonly options: RenderOptions },
): string {
  const { args, result } = context;
  switch (kind) {
    case "haproxy":
      requireBalanced(context, targets);
      return renderHaproxy(targets, options);
    case "envoy":
      requireBalanced(context, targets);
      return renderEnvoy(targets, options);
    case "prometheus":
      if (targets.admin === null)
        result.diagnose("RC120", {
          message: "the metrics of rolecall are left out: no admin listener is known",
          action: "Pass --admin HOST:PORT.",
        });
      return renderPrometheus(targets);
    case "patroni":
      return renderPatroni(context, targets);
    default:
      return renderKubernetes(targets, args.text("image") ?? `rolecall:${version()}`);
  }
}

/**
 * Makes sure that load balancers can check rolecall, and reports what their fallback, the nodes' own checks, lacks.
 * @throws CommandError (RC001) if no health listener can be checked; (RC112) if a cluster has no members or all pools
 * would be empty: a load balancer that loads such a file stops serving
 */
function requireBalanced(context: CommandContext, { clusters, edgeProblem }: Targets): void {
  const { result } = context;
  if (edgeProblem !== null) throw new CommandError("RC001", edgeProblem);
  requirePools(clusters);
  for (const { name, nodes } of clusters) {
    const without = nodes.filter(({ api }) => api === null);
    if (without.length > 0)
      result.diagnose("RC120", {
        message:
          `${name}: ${without.map((node) => node.name).join(", ")} cannot be checked while no rolecall is ready, as ` +
          "no API of the node is known; open sessions continue then, and new ones are refused",
        action: "Run two instances of rolecall, and pass --edge twice.",
      });
    if (!isLocal(context) && nodes.some(({ api }) => api?.isTls === true))
      result.diagnose("RC120", {
        message: `${name}: the CA of the nodes' certificates is unknown, so the system's CAs verify the nodes' own checks`,
        action: "Render with --config, or set ca-file (HAProxy) or trusted_ca (Envoy).",
      });
  }
}

function requirePools(clusters: Targets["clusters"]): void {
  const empty = clusters.filter(({ members }) => members === 0).map(({ name }) => name);
  if (empty.length > 0)
    throw new CommandError(
      "RC112",
      `Cannot render: no member is known of ${empty.join(", ")}, so its pools would be missing`,
      "Check the seeds and the scope of the cluster with rolecall doctor, or select other clusters with --cluster.",
    );
  if (clusters.every(({ nodes }) => nodes.length === 0))
    throw new CommandError(
      "RC112",
      "Cannot render: no node has a known database address, so the configuration would have no pool",
      "Set database for the nodes, or check that their APIs answer with rolecall doctor.",
    );
}
