#!/usr/bin/env node
/** The street door: argv to a command, and its exit code. A command's file is loaded only when it is asked for. */
import { version } from "./version.ts";

const usage = `rolecall: answers load balancers for PostgreSQL clusters, from memory

Usage: rolecall COMMAND [OPTIONS]

  serve      probe clusters and answer health checks
  simulate   run a simulated cluster to try things on
  version    print the version

rolecall COMMAND --help tells more.
`;

async function run([command, ...args]: readonly string[]): Promise<number> {
  switch (command) {
    case "serve":
      return (await import("./cli/serve.ts")).serve(args);
    case "simulate":
      return (await import("./cli/simulate.ts")).simulate(args);
    case "version":
    case "--version":
      process.stdout.write(`rolecall ${version()}\n`);
      return 0;
    case "help":
    case "--help":
    case "-h":
      process.stdout.write(usage);
      return 0;
    case undefined:
      process.stderr.write(usage);
      return 2;
    default:
      process.stderr.write(`Cannot run ${JSON.stringify(command)} as it must be serve, simulate or version\n\n${usage}`);
      return 2;
  }
}

process.exitCode = await run(process.argv.slice(2));
