import type { DoctorCheck, ServerCheck } from "../../core/command/doctor/doctor-context.ts";
import type { OptionSpec } from "../../core/command/framework/command-description.ts";
import { fleetChecks } from "../../features/fleet/tools.ts";
import { followChecks } from "../../features/follow/tools.ts";
import {
  haproxyChecks,
  haproxyDoctorExamples,
  haproxyDoctorOptions,
  haproxyServerChecks,
} from "../../features/haproxy/tools.ts";
import { switchoverChecks } from "../../features/switchover/tools.ts";
import { xdsServerChecks } from "../../features/xds/tools.ts";

/** What features check of a set-up, in the order of their rows. */
export const featureChecks: readonly DoctorCheck[] = [...haproxyChecks, ...switchoverChecks];

/** What they check with the members that are known, and ask the running rolecall. */
export const featureServerChecks: readonly ServerCheck[] = [
  ...haproxyServerChecks,
  ...xdsServerChecks,
  ...followChecks,
  ...fleetChecks,
];

/** The order of these checks, and of those of the core: `asked` and `state`. */
export const serverCheckOrder: readonly string[] = [
  "haproxy_config",
  "asked",
  "state",
  "envoys",
  "upstreams",
  "fleet",
  "haproxy",
];

/** The options that they read, and examples of them. */
export const doctorOptions: readonly OptionSpec[] = [...haproxyDoctorOptions];
export const doctorExamples: readonly string[] = [...haproxyDoctorExamples];
