/** All faults at all their states, one after the other, in as few labs as possible. */
import { errorMessage } from "../../../src/core/cluster/values/error-message.ts";
import { type CellResult, playCell } from "./cell.ts";
import { FaultLab, type FaultLabOptions } from "./fault-lab.ts";
import { faults, type FaultSpec, type LabKind, type MetState } from "./fault-list.ts";

export interface FaultCampaignOptions extends Omit<FaultLabOptions, "kind"> {
  /** Which are played. */
  readonly isWanted: (fault: FaultSpec, state: MetState) => boolean;
  /** None begins after this instant of the monotonic clock, in ms. */
  readonly untilMs: number;
  readonly onResult: (result: CellResult) => void;
}

/** After a result that is not good the next fault gets a lab of its own. */
export async function playFaults({ isWanted, untilMs, onResult, ...options }: FaultCampaignOptions): Promise<void> {
  for (const kind of ["peer", "alone"] as const satisfies readonly LabKind[]) {
    let faultLab: FaultLab | null = null;
    try {
      const cells = faults
        .filter(({ lab }) => lab === kind)
        .flatMap((spec) => spec.states.map((state) => ({ spec, state })));
      for (const { spec, state } of cells) {
        if (!isWanted(spec, state) || performance.now() >= untilMs) continue;
        faultLab ??= await FaultLab.start({ ...options, kind });
        const result = await resultOf(faultLab, spec, state);
        onResult(result);
        if (result.broken.length === 0) continue;
        await faultLab.stop();
        faultLab = null;
      }
    } finally {
      await faultLab?.stop();
    }
  }
}

async function resultOf(faultLab: FaultLab, spec: FaultSpec, state: MetState): Promise<CellResult> {
  try {
    return await playCell(faultLab, spec, state);
  } catch (error) {
    const nothing = { pausedMs: 0, acknowledged: 0, failed: 0, worstWaitMs: 0, lost: 0, recoveredMs: null };
    const broken = [`not completed: ${errorMessage(error).slice(0, 3_000)}`];
    return {
      fault: spec.name,
      state,
      met: "",
      outcome: "",
      text: "",
      exitCode: null,
      resumedBy: [],
      alertSeen: null,
      ...nothing,
      broken,
    };
  }
}
