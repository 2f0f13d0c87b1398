import type { DoctorCheck, ServerCheck } from "../../core/command/doctor/doctor-context.ts";
import type { OptionSpec } from "../../core/command/framework/command-description.ts";
import type { RenderTarget } from "../../core/command/render/render-target.ts";

/** What `rolecall doctor` checks of HAProxies that are pushed to. */
export const haproxyChecks: readonly DoctorCheck[] = [
  { id: "balancers", load: async () => (await import("./diagnose-balancers.ts")).diagnoseBalancers },
];

/** What it checks with the members that are known: the servers of a file, and the file that would be rendered. */
export const haproxyServerChecks: readonly ServerCheck[] = [
  {
    id: "haproxy_config",
    isListed: false,
    load: async () => (await import("./cli/check-servers.ts")).checkHaproxyServers,
  },
  { id: "haproxy", isListed: true, load: async () => (await import("./cli/check-rendered.ts")).checkRenderedHaproxy },
];

export const haproxyDoctorOptions: readonly OptionSpec[] = [
  { name: "haproxy", value: "FILE", help: "the haproxy executable (default: haproxy on the PATH)" },
  { name: "haproxy-config", value: "FILE", help: "compare the servers of this haproxy.cfg with the members" },
];

export const haproxyDoctorExamples: readonly string[] = [
  "rolecall doctor --config rolecall.yaml --haproxy-config /etc/haproxy/haproxy.cfg",
];

/** What `rolecall render` writes for HAProxy. */
export const haproxyTargets: readonly RenderTarget[] = [
  {
    kind: "haproxy",
    byOption: null,
    texts: {
      summary: "write the configuration of HAProxy",
      about: "Writes haproxy.cfg: pools for writes and reads, and how HAProxy asks rolecall.",
      help: {
        "write-port":
          "write port of the first cluster; each further cluster adds 10. With pools in the configuration: port of the " +
          "first pool; each further pool adds 1 (default 5000)",
        "stats-port": "port on 127.0.0.1 for the statistics, or none (default 8404)",
        zone: "the zone of this load balancer (default: none): reads go to nodes of other zones only while none of it is fit",
      },
    },
    options: [
      {
        name: "runtime-socket",
        value: "PATH",
        help:
          "HAProxy's Runtime API on this socket (default /run/haproxy/admin.sock), and prints the balancers section for " +
          "rolecall",
      },
      {
        name: "follow-members",
        help: "with --runtime-socket: rolecall adds servers for nodes that join, and removes them again",
      },
      {
        name: "bare",
        help: "leave out user, chroot, log and socket of the distribution, to start it by hand as any user",
      },
    ],
    examples: ["rolecall render haproxy --config rolecall.yaml --edge 10.0.0.11:8008,10.0.0.12:8008 > haproxy.cfg"],
    load: async () => (await import("./render/render-haproxy.ts")).renderHaproxyTarget,
  },
];
