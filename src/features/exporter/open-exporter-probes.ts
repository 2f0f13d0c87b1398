import type { Host, Opened } from "../../feature/feature.ts";
import { nodeProbes } from "../../feature/offers.ts";
import type { Scope } from "../../feature/scope.ts";
import { exporterProbes } from "./exporter-prober.ts";

/** Probes exporters with the APIs of their nodes, or in place of them, until the scope ends. */
export function openExporterProbes({ offers }: Pick<Host, "offers">, scope: Pick<Scope, "hold">): Opened {
  scope.hold("what is offered", nodeProbes.bring(offers, exporterProbes));
  return { configure: () => {} };
}
