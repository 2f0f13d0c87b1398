import { CommandError } from "../framework/command-error.ts";
import type { RenderContext } from "./render-target.ts";
import type { Targets } from "./targets.ts";

/**
 * Makes sure that load balancers can check rolecall, and reports what their fallback, the nodes' own checks, lacks.
 * @throws CommandError (RC001) if no health listener can be checked; (RC112) if a cluster has no members or all pools
 * would be empty: a load balancer that loads such a file stops serving
 */
export function requireBalanced(
  { command: { result }, loadConfig }: RenderContext,
  { clusters, edgeProblem }: Targets,
): void {
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
    if (loadConfig === null && nodes.some(({ api }) => api?.isTls === true))
      result.diagnose("RC120", {
        message: `${name}: the CA of the nodes' certificates is unknown, so the system's CAs verify the nodes' own checks`,
        action: "Render with --config, or set ca-file (HAProxy) or trusted_ca (Envoy).",
      });
  }
}

function requirePools(clusters: Targets["clusters"]): void {
  requireMembers(clusters, "its pools would be missing");
  if (clusters.every(({ nodes }) => nodes.length === 0))
    throw new CommandError(
      "RC112",
      "Cannot render: no node has a known database address, so the configuration would have no pool",
      "Set database for the nodes, or check that their APIs answer with rolecall doctor.",
    );
}

/**
 * Not known is not "none" (rule 16): a program that reads a file without members takes them for gone.
 * @throws CommandError (RC112) if no member of a cluster is known
 */
export function requireMembers(clusters: Targets["clusters"], otherwise: string): void {
  const empty = clusters.filter(({ members }) => members === 0).map(({ name }) => name);
  if (empty.length === 0) return;
  throw new CommandError(
    "RC112",
    `Cannot render: no member is known of ${empty.join(", ")}, so ${otherwise}`,
    "Check the seeds and the scope of the cluster with rolecall doctor, or select other clusters with --cluster.",
  );
}
