/** What the features of a simulated rolecall load on first use. Loaded before virtual time runs: a file takes real time. */
import "../../../src/features/agent/open-agent.ts";
import "../../../src/features/companions/open-companions.ts";
import "../../../src/features/dcs/open-dcs.ts";
import "../../../src/features/exporter/open-exporter-probes.ts";
import "../../../src/features/fleet/open-fleet.ts";
import "../../../src/features/follow/open-follow.ts";
import "../../../src/features/gateway/open-gateway.ts";
