import type { FindPendingChange } from "../../core/feature/child-host.ts";

/** Looks into the DCS of a cluster. Nothing of it is loaded before it is needed. */
export const pendingChangeInDcs: FindPendingChange = async ({ clusters }, cluster) => {
  const found = clusters.find(({ name }) => name === cluster);
  if (found === undefined || found.dcs === null) return null;
  const [{ etcdSourceOf }, { readAccess }] = await Promise.all([
    import("./dcs-watches.ts"),
    import("../../core/config/access-material.ts"),
  ]);
  return etcdSourceOf(found, found.dcs, readAccess(found.dcs));
};
