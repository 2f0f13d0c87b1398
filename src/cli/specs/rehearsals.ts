import type { CommandSpec } from "../framework/command.ts";
import { clusterOption, serverOptions } from "../framework/options.ts";

/** Commands that measure an outage by causing one. */
export const rehearsalCommands: readonly CommandSpec[] = [
  {
    name: "rehearse",
    summary: "make a switchover while writing through the pool, and show the outage by phase",
    about:
      "Writes rows through the pool of --dsn, switches the cluster over, and shows when the old primary was demoted, the\n" +
      "new one promoted, rolecall accepted it, the balancer switched and the first write succeeded, with what would\n" +
      "shorten the outage. Writes go to a schema of its own, which it removes at the end, also after Ctrl-C. Shows its\n" +
      "plan and asks for confirmation first. The switchover goes through the management gateway of a running\n" +
      "rolecall. docs/rehearse.md describes it.",
    options: [
      {
        name: "dsn",
        value: "DSN",
        help: "the pool that applications write through: a URL or keyword=value pairs, without a password (required)",
      },
      {
        name: "dsn-password-file",
        value: "FILE",
        help: "a file with the password of --dsn and --node-dsn (default: PGPASSFILE or ~/.pgpass)",
      },
      {
        name: "node-dsn",
        value: "NAME=DSN",
        multiple: true,
        help: "the database of a node, to ask pg_is_in_recovery() every 10 ms; may be repeated",
      },
      { name: "candidate", value: "NODE", completes: "node", help: "the new leader (default: the cluster elects one)" },
      { name: "rate", value: "N", help: "writes in a second, 1 to 100 (default 10)" },
      { name: "write-timeout", value: "TIME", help: "how long one write may take, at most 30s (default 2s)" },
      { name: "deadline", value: "TIME", help: "how long to wait for the recovery, at most 10min (default 2min)" },
      { name: "max-outage", value: "TIME", help: "exit with 1 if the outage is longer (default: no limit)" },
      { name: "kill", help: "kill the leader instead of a switchover; needs --lab and --kill-command" },
      { name: "lab", value: "SCOPE", help: "with --kill: the scope of the cluster, to confirm that it is a lab" },
      {
        name: "kill-command",
        value: "COMMAND",
        help: "with --kill: a shell command that kills the leader, whose name is in ROLECALL_NODE",
      },
      { name: "haproxy-config", value: "FILE", help: "the haproxy.cfg of the pool, for advice that fits its edges" },
      { name: "dry-run", help: "make the checks and show the plan, without a change; exit code 1 if it is refused" },
      { name: "yes", short: "y", help: "do not ask for confirmation (for scripts)" },
      clusterOption,
      ...serverOptions,
    ],
    examples: [
      "rolecall rehearse --dsn postgresql://app@127.0.0.1:5000/app --candidate pg2",
      "rolecall rehearse --dsn 'host=127.0.0.1 port=5000 user=app dbname=app' --max-outage 3s --yes --format json",
      "rolecall rehearse --dsn postgresql://app@127.0.0.1:5000/app --kill --lab demo --kill-command './kill-leader'",
    ],
    checks: [
      { id: "checks", required: true },
      { id: "rehearsal", required: true },
    ],
    ownFindings: ["RC146"],
    // It handles Ctrl-C itself: it removes its schema first.
    isService: true,
    load: async () => (await import("../commands/rehearse.ts")).rehearse,
  },
];
