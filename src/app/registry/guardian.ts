/** The composition root of a guardian process, which a feature starts to finish what this process may leave half done. */
import type { FindPendingChange, RunChild } from "../../core/feature/child-host.ts";
import { pendingChangeInDcs } from "../../features/dcs/pending-change.ts";
import { pendingChangeInKubernetes } from "../../features/kubernetes/pending-change.ts";
import { runGuardian } from "../../features/switchover/open-guardian.ts";
import { setSystemTimer } from "../../core/probe/schedule/system-timer.ts";
import { startProbes } from "../machine/probe-once.ts";
import { localNodeFinders } from "./node-finders.ts";
import { featureProbes } from "./node-probes.ts";
import { featurePushTargets } from "./push-targets.ts";

const programs: readonly RunChild[] = [runGuardian];

const pendingChanges: readonly FindPendingChange[] = [pendingChangeInDcs, pendingChangeInKubernetes];

for (const run of programs)
  run({
    setTimer: setSystemTimer,
    startProbes: (config, onTlsProblem, saved) =>
      startProbes(config, { find: featureProbes, finders: localNodeFinders, onTlsProblem }, saved),
    pushTargets: featurePushTargets,
    pendingChanges,
  });
