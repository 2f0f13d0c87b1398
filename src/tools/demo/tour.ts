import type { TourStep } from "./demo-banner.ts";

/** The addresses of a running demo that its commands need. */
export interface DemoAddresses {
  /** The base URL of the health listener. */
  readonly health: string;
  /** The base URL of the admin listener. */
  readonly admin: string;
  /** The base URL of the port that controls the faults. */
  readonly control: string;
  /** The nodes of the first cluster: pg1, which leads at the start, pg2 and pg3. */
  readonly nodes: readonly { readonly name: string; readonly url: string }[];
  /** The first cluster, if there are several: then paths and options must name it. */
  readonly cluster: string | null;
  /** The options that make a command query this rolecall: ` --server URL`, or nothing where that is the default. */
  readonly toHealth: string;
  readonly toAdmin: string;
  /** How long the leader lock lasts without its holder, in seconds. */
  readonly ttlSeconds: number;
}

/** The things to try with a demo, in an order in which each works after those before it. */
export function tourOf(demo: DemoAddresses): readonly TourStep[] {
  const paths = pathsOf(demo);
  return [...firstLook(demo, paths), ...replicaSteps(demo, paths), ...leaderSteps(demo, paths)];
}

/** The beginnings of the URLs that commands use. */
interface TourPaths {
  /** Of checks of the first cluster: `/nodes/pg1/primary` or `/primary` follows. */
  readonly checks: string;
  /** Of its faults: `/pg1/kill` follows. */
  readonly faults: string;
}

function pathsOf({ health, control, cluster }: DemoAddresses): TourPaths {
  return cluster === null
    ? { checks: health, faults: `${control}/sim` }
    : { checks: `${health}/clusters/${cluster}`, faults: `${control}/sim/${cluster}` };
}

function firstLook({ toAdmin }: DemoAddresses, { checks }: TourPaths): readonly TourStep[] {
  return [
    {
      text: ["Watch the cluster in a terminal of its own (q ends it):"],
      commands: [`rolecall status --watch${toAdmin}`],
    },
    {
      text: ["Check a node as a load balancer does: the primary? a replica within 1 MB?"],
      commands: [`curl -I ${checks}/nodes/pg1/primary`, `curl -I '${checks}/nodes/pg2/replica?lag=1MB'`],
    },
  ];
}

function replicaSteps(demo: DemoAddresses, { checks, faults }: TourPaths): readonly TourStep[] {
  const urlOf = (node: string): string => demo.nodes.find(({ name }) => name === node)?.url ?? "";
  const pg2 = demo.cluster === null ? "pg2" : `${demo.cluster}/pg2`;
  return [
    {
      text: [
        "1. pg2 silently stops receiving WAL. The node itself goes on answering 200;",
        "   rolecall answers 503 detached after 10 s, and explains why:",
      ],
      commands: [
        `curl -X POST ${faults}/pg2/detach`,
        `curl -I ${urlOf("pg2")}/replica`,
        `sleep 13; curl -I ${checks}/nodes/pg2/replica`,
        `rolecall explain /replica --node ${pg2}${demo.toAdmin}`,
      ],
    },
    {
      text: ["2. pg3 falls 9 MB behind: 503 lagging for a limit of 1 MB, 200 without one:"],
      commands: [
        `curl -X POST '${faults}/pg3/lag?bytes=9MB'`,
        `sleep 3; curl -I '${checks}/nodes/pg3/replica?lag=1MB'`,
        `curl -I ${checks}/nodes/pg3/replica`,
      ],
    },
    {
      text: [
        "3. Two primaries: pg3 claims to be the primary too, and answers 200 itself;",
        "   rolecall answers 503 superseded:",
      ],
      commands: [
        `curl -X POST ${faults}/pg3/claim`,
        `curl -I ${urlOf("pg3")}/primary`,
        `sleep 3; curl -I ${checks}/nodes/pg3/primary`,
      ],
    },
    {
      text: ["4. Undo: every fault of one node, then of all nodes. Both are fit again:"],
      commands: [
        `curl -X POST ${faults}/pg3/heal`,
        `curl -X POST ${demo.control}/sim/heal`,
        `sleep 4; curl -I '${checks}/nodes/pg2/replica?lag=1MB'`,
        `curl -I '${checks}/nodes/pg3/replica?lag=1MB'`,
      ],
    },
  ];
}

function leaderSteps(demo: DemoAddresses, { checks, faults }: TourPaths): readonly TourStep[] {
  const ofCluster = demo.cluster === null ? "" : ` --cluster ${demo.cluster}`;
  const healAll = `curl -X POST ${demo.control}/sim/heal`;
  return [
    {
      text: ["5. A planned switchover: pg2 is the primary after about 2 s:"],
      commands: [`rolecall switchover --candidate pg2 --yes${ofCluster}${demo.toHealth}`],
    },
    {
      text: [
        "6. Kill the primary, or freeze it. The answer stays 200 until three probes",
        "   have failed (3 to 6 s). Then it is 503, and 200 again when another node",
        `   leads: the lock expires after ${String(demo.ttlSeconds)} s. Until then, heal restores the leader:`,
      ],
      commands: [
        `curl -X POST ${faults}/leader/kill`,
        `sleep 6; curl -I ${checks}/primary`,
        healAll,
        `sleep 4; curl -I ${checks}/primary`,
        `curl -X POST ${faults}/leader/freeze`,
        `sleep 6; curl -I ${checks}/primary`,
        healAll,
        `sleep 4; curl -I ${checks}/primary`,
      ],
    },
  ];
}
