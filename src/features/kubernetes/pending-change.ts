import type { FindPendingChange } from "../../core/feature/child-host.ts";

/** Looks into what Patroni keeps of a cluster in Kubernetes. Nothing of it is loaded before it is needed. */
export const pendingChangeInKubernetes: FindPendingChange = async ({ clusters, kubernetes }, cluster) => {
  const found = clusters.find(({ name }) => name === cluster);
  if (found === undefined || found.dcs?.kubernetes === undefined) return null;
  const [{ kubernetesSourceOf }, { SharedClient }] = await Promise.all([
    import("./dcs/leader-source.ts"),
    import("./api/shared-client.ts"),
  ]);
  const shared = new SharedClient({ now: () => performance.now() });
  shared.configure(kubernetes);
  const source = kubernetesSourceOf(found, found.dcs, () => shared.client);
  if (source === null) return null;
  return {
    isChangePending: () => source.isChangePending(),
    close: () => {
      source.close();
      shared.close();
    },
  };
};
