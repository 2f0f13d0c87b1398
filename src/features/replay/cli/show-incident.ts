import type { CommandContext } from "../../../core/command/framework/command-context.ts";
import { CommandError } from "../../../core/command/framework/command-error.ts";
import { untilAborted } from "../../../core/command/framework/until-aborted.ts";
import { safe } from "../../../core/command/output/style.ts";
import { errorMessage } from "../../../core/cluster/values/error-message.ts";
import { parseIncidentSource, readIncidentSource } from "./incident-source.ts";
import { startIncidentServer, type IncidentServer } from "./incident-server.ts";

/** `rolecall incident show FILE`: serves an incident file with the live page on loopback, until Ctrl-C. */
export async function showIncident(context: CommandContext): Promise<void> {
  const { args, result, print, signal, style } = context;
  const source = await readIncidentSource(context);
  const { name } = parseIncidentSource(source);
  const server = await started(source.bytes, portOf(args.text("port")));
  print(`${safe(name)}\n\n  ${style.bold(server.url)}\n\nOpen it in a browser on this machine. Ctrl-C ends it.\n`);
  await untilAborted(signal);
  await server.close();
  result.data = { file: source.name, name, url: server.url };
  result.cover("evidence", "complete", { detail: source.name });
}

async function started(bytes: Buffer, port: number): Promise<IncidentServer> {
  try {
    return await startIncidentServer(bytes, port);
  } catch (error) {
    throw new CommandError("RC001", `--port must be a free port of 127.0.0.1, got ${port}: ${errorMessage(error)}`);
  }
}

function portOf(text: string | null): number {
  if (text === null) return 0;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new CommandError("RC001", `--port must be a number from 0 to 65535, got ${JSON.stringify(text)}`);
}
