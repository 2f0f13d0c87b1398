import { agent } from "../../features/agent/feature.ts";
import { audit } from "../../features/audit/feature.ts";
import { canary } from "../../features/canary/feature.ts";
import { companionChecks } from "../../features/companions/feature.ts";
import { dcsEvidence } from "../../features/dcs/feature.ts";
import { exporterProber } from "../../features/exporter/feature.ts";
import { fleet } from "../../features/fleet/feature.ts";
import { follow } from "../../features/follow/feature.ts";
import { gateway } from "../../features/gateway/feature.ts";
import { haproxy } from "../../features/haproxy/feature.ts";
import { history } from "../../features/history/feature.ts";
import { kubernetes } from "../../features/kubernetes/feature.ts";
import { page } from "../../features/page/feature.ts";
import { pgbouncer } from "../../features/pgbouncer/feature.ts";
import { switchover } from "../../features/switchover/feature.ts";
import { xds } from "../../features/xds/feature.ts";
import { Features } from "../host/features.ts";
import { featureIn, type FeaturesContext } from "../host/running-feature.ts";

/** Every feature of the service, in the order in which they are configured and told of changes. */
export function featuresOf(context: FeaturesContext): Features {
  return new Features([
    featureIn(page, context),
    featureIn(history, context),
    featureIn(fleet, context),
    featureIn(follow, context),
    featureIn(dcsEvidence, context),
    featureIn(exporterProber, context),
    featureIn(companionChecks, context),
    featureIn(haproxy, context),
    featureIn(pgbouncer, context),
    featureIn(xds, context),
    featureIn(kubernetes, context),
    featureIn(agent, context),
    featureIn(audit, context),
    featureIn(canary, context),
    featureIn(gateway, context),
    featureIn(switchover, context),
  ]);
}
