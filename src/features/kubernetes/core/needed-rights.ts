/** What rolecall may do in the namespace of a Service that it publishes: exactly that is in deploy/kubernetes. Pure. */

/** A right as RBAC has it: `patch` on `endpointslices` of `discovery.k8s.io`. */
export interface NeededRight {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
}

/** Every right that is needed in the namespace of a Service, in the order of a Role. */
export const neededRights: readonly NeededRight[] = [
  ...of("discovery.k8s.io", "endpointslices", ["get", "list", "watch", "create", "patch"]),
  ...of("", "services", ["list", "watch"]),
  ...of("", "pods", ["list", "watch"]),
  ...of("coordination.k8s.io", "leases", ["list", "watch", "create", "patch"]),
  ...of("", "events", ["create"]),
];

/** The rights that are needed where Patroni keeps its leader. */
export function leaderRights(object: "configmaps" | "endpoints"): readonly NeededRight[] {
  return of("", object, ["list", "watch"]);
}

/** The rights that are needed where pods are found by their labels. */
export const podRights: readonly NeededRight[] = of("", "pods", ["list", "watch"]);

/** Rights as people name them: `patch and create on endpointslices`. Those of one resource are named together. */
export function rightsText(rights: readonly NeededRight[]): string {
  const verbs = new Map<string, string[]>();
  for (const { resource, verb } of rights) verbs.set(resource, [...(verbs.get(resource) ?? []), verb]);
  return [...verbs].map(([resource, its]) => `${its.join(", ")} on ${resource}`).join("; ");
}

function of(group: string, resource: string, verbs: readonly string[]): readonly NeededRight[] {
  return verbs.map((verb) => ({ group, resource, verb }));
}
