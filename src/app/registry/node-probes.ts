import { localCompanions } from "../../features/companions/local-probes.ts";
import { localExporters } from "../../features/exporter/local-probes.ts";
import type { FindProbes } from "../../core/probe/client/probe-context.ts";

/** What features probe of nodes besides their APIs, for processes that open no features: commands and the guardian. */
export const featureProbes: readonly FindProbes[] = [localExporters, localCompanions];
