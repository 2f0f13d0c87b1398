import { existsSync } from "node:fs";
import { clientVariables } from "../../core/config/sources/client-variables.ts";
import { contextsFile } from "../../core/command/contexts/contexts-file.ts";

/**
 * Returns the option that makes a command query this server: ` --server URL`, or nothing where a command queries it
 * anyway. That is so at the default address, unless the user has chosen another server for all commands.
 * @param url the base URL of the server
 * @param usual the base URL that commands query without the option
 */
export function serverOption(url: string, usual: string, env: Readonly<Record<string, string | undefined>>): string {
  return url === usual && !hasChosenServer(env) ? "" : ` --server ${url}`;
}

function hasChosenServer(env: Readonly<Record<string, string | undefined>>): boolean {
  if ((env[clientVariables.server] ?? "") !== "" || (env[clientVariables.context] ?? "") !== "") return true;
  const file = contextsFile(env);
  return file !== null && existsSync(file);
}
