import * as z from "zod";
import { type ConfigRules, type ConfigSources, type LoadedConfig, loadConfigBy } from "../../core/config/load.ts";
import type { FindConfiguredFiles } from "../../core/config/configured-files.ts";
import type { FeatureConfigs } from "../../core/config/model/config.ts";
import { jsonSchemaOf } from "../../core/config/schema/json-schema.ts";
import { clusterError, clusterKeys } from "../../core/config/schema/cluster-schema.ts";
import { completeListener, listenerError, listenerKeys } from "../../core/config/schema/listener-schema.ts";
import { clustersKey, inCamelCase, listenKey, sectionKeys, wholeError } from "../../core/config/schema/schema.ts";
import type { ListenerDialect } from "../../core/config/values/listener-dialect.ts";
import { ConfigKeys } from "../../core/config/sources/override-keys.ts";
import { seedCheck, type SeedScheme } from "../../core/config/checks/seed-checks.ts";
import { checkAudit } from "../../features/audit/config/audit-checks.ts";
import { auditSchema } from "../../features/audit/config/audit-schema.ts";
import { canaryFiles, checkCanaries, completeCanaries } from "../../features/canary/config/canary-checks.ts";
import { canaryKeys } from "../../features/canary/config/canary-schema.ts";
import { checkFleet } from "../../features/fleet/config/fleet-checks.ts";
import { fleetFiles } from "../../features/fleet/config/fleet-files.ts";
import { completeFleet, fleetSchema } from "../../features/fleet/config/fleet-schema.ts";
import { completeHistory, historySchema } from "../../features/history/config/history-schema.ts";
import {
  checkKubernetes,
  completeKubernetes,
  kubernetesFiles,
  podSeeds,
} from "../../features/kubernetes/config/kubernetes-checks.ts";
import { kubernetesSchema } from "../../features/kubernetes/config/kubernetes-schema.ts";
import { checkHolds } from "../../features/switchover/config/hold-checks.ts";
import { checkPeers, completePeers } from "../../features/switchover/config/peer-checks.ts";
import { peerFiles } from "../../features/switchover/config/peer-files.ts";
import { peersSchema } from "../../features/switchover/config/peer-schema.ts";
import { completeXds, xdsDialect, xdsKeys } from "../../features/xds/config/xds-schema.ts";

/** The keys of the features at the top of the configuration: exactly those that they declare. */
const featureKeys = {
  peers: peersSchema,
  fleet: fleetSchema,
  audit: auditSchema,
  history: historySchema,
  kubernetes: kubernetesSchema,
} satisfies {
  readonly [Key in keyof FeatureConfigs]: z.ZodType<FeatureConfigs[Key]>;
};

/** The kinds of addresses of `discover` that features bring. */
const seedSchemes: readonly SeedScheme[] = [podSeeds];

/** What each feature checks of its part against the rest. */
const checks: ConfigRules["checks"] = [
  seedCheck(seedSchemes),
  checkPeers,
  checkHolds,
  checkFleet,
  checkAudit,
  checkCanaries,
  checkKubernetes,
];

/** The dialects of listeners that features bring. */
export const featureDialects: readonly ListenerDialect[] = [xdsDialect];

/** The schema of an entry of `listen`, with the keys of features. */
const listener = z
  .strictObject({ ...listenerKeys(featureDialects), ...xdsKeys }, listenerError)
  .transform((written) => ({ ...completeListener(written), ...completeXds(written) }));

/** The schema of an entry of `clusters`. */
const cluster = z.strictObject({ ...clusterKeys, ...canaryKeys }, clusterError);

/** What completes the part of each feature. */
const completions: ConfigRules["completions"] = [
  completePeers,
  completeFleet,
  completeHistory,
  completeCanaries,
  completeKubernetes,
];

/** The files that the part of each feature names. */
export const featureFiles: readonly FindConfiguredFiles[] = [peerFiles, fleetFiles, canaryFiles, kubernetesFiles];

/** The order of the keys in the references. */
const keyOrder: readonly string[] = [
  "clusters",
  "probe",
  "listen",
  "pools",
  "balancers",
  "poolers",
  "peers",
  "follow",
  "fleet",
  "kubernetes",
  "audit",
  "host_suffixes",
  "ignore_params",
  "state_file",
  "history",
  "drain",
  "fast_path",
  "workers",
  "guards",
  "log",
  "exporter",
  "simulator",
];

/**
 * The schema of the whole configuration. The parser, config/schema.json, and the names of environment variables and
 * `--set` paths are all derived from it.
 */
const configSchema = z
  .strictObject(
    { clusters: clustersKey(cluster), listen: listenKey(listener), ...sectionKeys, ...featureKeys },
    wholeError,
  )
  .transform(inCamelCase);

/** The JSON schema of the configuration file. `npm run schema` writes it to config/schema.json. */
export function configJsonSchema(): Readonly<Record<string, unknown>> {
  return jsonSchemaOf(configSchema, keyOrder);
}

/** The keys of the configuration. */
export const configKeys: ConfigKeys = new ConfigKeys(configJsonSchema);

const elements = { cluster, listener };
const rules: ConfigRules = {
  schema: configSchema,
  keys: configKeys,
  elements,
  dialects: featureDialects,
  checks,
  completions,
};

/** Reads, merges and checks the configuration of the whole program, as {@link loadConfigBy}. */
export function loadConfig(sources: ConfigSources): LoadedConfig {
  return loadConfigBy(rules, sources);
}
