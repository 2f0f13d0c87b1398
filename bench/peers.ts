/** Servers in C that return a constant, for comparison: the same document, one worker, one core. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { find, type Core } from "./machine.ts";
import { until } from "../test/fake/until.ts";
import { freePort } from "../test/fake/free-port.ts";
import { hasStatus } from "./rolecall.ts";
import { ChildProgram } from "./child-program.ts";

export interface Peer {
  readonly url: string;
  readonly process: ChildProgram;
  stop(): Promise<void>;
}

/** Starts nginx with `return 200` and this body. Returns the reason if it cannot. */
export function startNginx(body: string, core: Core = "measured"): Promise<Peer | { readonly notRun: string }> {
  return startPeer(
    { program: "nginx", core },
    (file) => ["nginx", "-p", join(file, ".."), "-c", file, "-e", "stderr"],
    (port, folder) =>
      [
        `worker_processes 1; daemon off; pid ${folder}/pid; error_log stderr crit;`,
        "events { worker_connections 4096; }",
        "http { access_log off; keepalive_requests 100000000;",
        ...["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((use) => `${use}_temp_path ${folder}/${use};`),
        `server { listen 127.0.0.1:${port} backlog=4096; default_type application/json; add_header Cache-Control no-store;`,
        `add_header X-Rolecall-Node pg1; location / { return 200 '${body}'; } } }`,
      ].join("\n"),
  );
}

/** Starts HAProxy with `http-request return` and this body. Returns the reason if it cannot. */
export function startHaproxy(body: string): Promise<Peer | { readonly notRun: string }> {
  return startPeer(
    { program: "haproxy", core: "measured" },
    (file) => ["haproxy", "-f", file],
    (port) =>
      [
        "global\n  nbthread 1\n  maxconn 4096",
        "defaults\n  mode http\n  timeout client 30s\n  timeout server 30s\n  timeout connect 1s",
        `frontend constant\n  bind 127.0.0.1:${port} backlog 4096`,
        `  http-request return status 200 content-type application/json string '${body}' hdr Cache-Control no-store hdr X-Rolecall-Node pg1\n`,
      ].join("\n"),
  );
}

async function startPeer(
  { program, core }: { readonly program: string; readonly core: Core },
  command: (file: string) => readonly string[],
  configuration: (port: number, folder: string) => string,
): Promise<Peer | { readonly notRun: string }> {
  if (find(program) === undefined) return { notRun: `package ${program} is not installed` };
  const folder = mkdtempSync(join(tmpdir(), "rolecall-bench-"));
  const port = await freePort();
  const file = join(folder, "constant.conf");
  writeFileSync(file, configuration(port, folder));
  const process = await ChildProgram.start({ command: command(file), core });
  const stop = async (): Promise<void> => {
    await process.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${port}/`;
  try {
    await until({ what: `an answer of ${program}`, seconds: 5 }, () => hasStatus(url, 200));
    return { url, process, stop };
  } catch (error) {
    await stop();
    return { notRun: error instanceof Error ? error.message : String(error) };
  }
}
