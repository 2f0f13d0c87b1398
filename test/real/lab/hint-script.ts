import { execFileSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { giveToPostgres } from "./child.ts";
import { ports } from "./ports.ts";
import { program } from "./rolecall.ts";

/** What is installed beside the rendered script. */
export interface HintScriptFiles {
  /** The name of the file with the hint token. */
  readonly token: string;
  /** The name of the file with the token for `--pause`; `null`: without. */
  readonly pauseToken: string | null;
}

/**
 * Installs the rendered script of Patroni, `rolecall-hint`, and its tokens.
 * @param urls the admin listeners that it calls
 * @returns the rendered settings of each node
 */
export function installHintScript(
  folder: string,
  urls: readonly string[],
  { token, pauseToken }: HintScriptFiles,
): (node: string) => object {
  const [script, config] = [join(folder, "rolecall-hint"), join(folder, "render.yaml")];
  const nodes = [1, 2, 3].map((number) => ({ name: `pg${number}`, api: `http://127.0.0.1:${ports.api + number - 1}` }));
  writeFileSync(config, JSON.stringify({ clusters: [{ name: "demo", nodes }] })); // JSON is YAML
  writeFileSync(join(folder, token), "a-hint-token-of-this-test\n");
  const files = ["--hint-script", script, "--hint-token-file", join(folder, token)];
  const pausing = pauseToken === null ? [] : ["--pause", "--pause-token-file", join(folder, pauseToken)];
  if (pauseToken !== null) writeFileSync(join(folder, pauseToken), "a-pause-token-of-this-test\n");
  const args = ["render", "patroni", ...pausing, "--config", config, "--hint-to", urls.join(","), ...files];
  const text = execFileSync(process.execPath, [program, ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
  writeFileSync(script, text);
  chmodSync(script, 0o755);
  giveToPostgres(folder);
  return (node) => {
    const [, settings = ""] = new RegExp(`^# cluster demo, node ${node}:\\n((?:# .*\\n)+)`, "m").exec(text) ?? [];
    return (parse(settings.replaceAll(/^# /gm, "")) as { readonly postgresql: object }).postgresql;
  };
}
