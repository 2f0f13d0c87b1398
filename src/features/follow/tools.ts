import type { ServerCheck } from "../../core/command/doctor/doctor-context.ts";

/** What `rolecall doctor` checks of the instances that are followed. */
export const followChecks: readonly ServerCheck[] = [
  { id: "upstreams", isListed: false, load: async () => (await import("./cli/check-upstreams.ts")).checkUpstreams },
];
