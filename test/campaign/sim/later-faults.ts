import type { Chance } from "../chance.ts";
import type { Profile } from "../profile.ts";
import type { Shape } from "../run/model-cluster.ts";
import { type Fault, faultOf, type FaultKind, laterKinds } from "../run/scenario.ts";
import type { Mode } from "../world/mode.ts";

/** How often each mode is drawn. */
const weights: Readonly<Record<Mode, number>> = { plain: 10, sync: 3, "sync-two": 2, quorum: 2, standby: 4 };
/** How likely an episode has a fault of a kind. */
const shares: Partial<Record<FaultKind, number>> = { crash: 0.35, promoteCluster: 0.4, restart: 0.25 };

/** The mode of a cluster, of those that are allowed and that it can have; `plain` if it can have none of them. */
export function modeFor(
  chance: Chance,
  { size, generation }: Pick<Shape, "size" | "generation">,
  allowed: readonly Mode[],
): Mode {
  const isPossible = (mode: Mode): boolean =>
    allowed.includes(mode) && (mode !== "quorum" || generation === 4) && (mode !== "sync-two" || size > 2);
  const possible = (Object.keys(weights) as Mode[]).filter(isPossible);
  if (possible.length === 0) return "plain";
  return chance.weighted(Object.fromEntries(possible.map((mode) => [mode, weights[mode]])) as Record<Mode, number>);
}

/** The faults of one episode of the kinds that a simulation draws apart. */
export function laterFaults(
  chance: Chance,
  profile: Profile,
  { shape, kinds }: { readonly shape: Shape; readonly kinds: readonly FaultKind[] },
): readonly Fault[] {
  const wanted = laterKinds.filter((kind) => kinds.includes(kind));
  // Where nothing else is drawn, most episodes have them.
  const factor = wanted.length === kinds.length ? 2.5 : 1;
  return wanted.flatMap((kind) => {
    const isDrawn = chance.happens((shares[kind] ?? 0) * factor);
    const fault = faultOf(chance, profile, { kind, size: shape.size });
    return isDrawn && (kind !== "promoteCluster" || shape.mode === "standby") ? [fault] : [];
  });
}
