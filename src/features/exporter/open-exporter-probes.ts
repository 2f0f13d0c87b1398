import type { Host, Opened } from "../../core/feature/feature.ts";
import { nodeProbes } from "../../core/feature/offers.ts";
import type { Scope } from "../../core/feature/scope.ts";
import { exporterProbes } from "./exporter-prober.ts";

/** Probes exporters with the APIs of their nodes, or in place of them, until the scope ends. */
export function openExporterProbes({ offers }: Pick<Host, "offers">, scope: Pick<Scope, "hold">): Opened {
  scope.hold("what is offered", nodeProbes.bring(offers, exporterProbes));
  return { configure: () => {} };
}
