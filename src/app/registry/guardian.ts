/** The composition root of a guardian process, which a feature starts to finish what this process may leave half done. */
import type { Config } from "../../config/model/config.ts";
import type { DcsSource } from "../../dcs/watch/dcs-source.ts";
import type { RunChild } from "../../feature/child-host.ts";
import { runGuardian } from "../../features/switchover/open-guardian.ts";
import { setSystemTimer } from "../../probe/schedule/system-timer.ts";
import { startProbes } from "../machine/probe-once.ts";
import { featurePushTargets } from "./push-targets.ts";

const programs: readonly RunChild[] = [runGuardian];

/** The keys of the cluster in its DCS; `null` if none is configured. Nothing of it is loaded before it is needed. */
async function openDcs({ clusters }: Config, cluster: string): Promise<DcsSource | null> {
  const found = clusters.find(({ name }) => name === cluster);
  if (found === undefined || found.dcs === null) return null;
  const [{ dcsSourceOf }, { readAccess }] = await Promise.all([
    import("../../dcs/dcs-watches.ts"),
    import("../../config/access-material.ts"),
  ]);
  return dcsSourceOf(found, found.dcs, readAccess(found.dcs));
}

for (const run of programs) run({ setTimer: setSystemTimer, startProbes, pushTargets: featurePushTargets, openDcs });
