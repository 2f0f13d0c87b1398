import { readFileSync, statSync } from "node:fs";
import type { SettingName, ServerSettings } from "../contexts/server-settings.ts";
import { CommandError } from "../framework/command-error.ts";
import { errorMessage } from "../../cluster/values/error-message.ts";

/** What a connection needs in addition to the address of the server. */
export interface Credentials {
  /** The Authorization header, if any. */
  readonly headers: { readonly [name: string]: string };
  /** PEM texts, as node:tls takes them. */
  readonly tls: {
    readonly ca?: string;
    readonly cert?: string;
    readonly key?: string;
    readonly rejectUnauthorized?: boolean;
  };
  /** Files with secrets that other users of this machine can read. */
  readonly exposed: readonly string[];
}

/**
 * Reads the files that the settings name.
 * @throws CommandError (RC001) if the settings contradict each other, (RC006) if a file cannot be read
 */
export function readServerCredentials({ values }: ServerSettings): Credentials {
  const fileOf = (name: SettingName): string | null => values.get(name)?.value ?? null;
  if (fileOf("token-file") !== null && fileOf("user-file") !== null)
    throw new CommandError("RC001", "--token-file and --user-file cannot be used together");
  for (const [name, other] of [
    ["cert", "key"],
    ["key", "cert"],
  ] as const) {
    const given = values.get(name);
    if (given !== undefined && fileOf(other) === null)
      throw new CommandError(
        "RC001",
        `${given.from} needs a ${other === "key" ? "private key" : "certificate"} too: pass --${other}`,
      );
  }
  const read = (name: SettingName): string | null => {
    const setting = values.get(name);
    return setting === undefined ? null : readFile(setting.value, setting.from, name);
  };
  const [ca, cert, key] = [read("ca"), read("cert"), read("key")];
  const isInsecure = values.get("insecure")?.value === "true";
  return {
    headers: authorization(read),
    tls: {
      ...(ca === null ? {} : { ca }),
      ...(cert === null || key === null ? {} : { cert, key }),
      ...(isInsecure ? { rejectUnauthorized: false } : {}),
    },
    exposed: (["token-file", "user-file", "password-file", "key"] as const)
      .flatMap((name) => fileOf(name) ?? [])
      .filter(isReadableByOthers),
  };

  function authorization(text: (name: SettingName) => string | null): Credentials["headers"] {
    const token = text("token-file");
    if (token !== null) return { Authorization: `Bearer ${token}` };
    const user = fileOf("user");
    const password = text("password-file");
    const pair = user !== null && password !== null ? `${user}:${password}` : text("user-file");
    return pair === null ? {} : { Authorization: `Basic ${Buffer.from(pair).toString("base64")}` };
  }
}

function readFile(file: string, from: string, name: SettingName): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    const source = from.startsWith("context ") ? `${name.replace("-", "_")} of ${from}` : from;
    throw new CommandError("RC006", `Cannot read ${source}: ${errorMessage(error)}`);
  }
}

/** Whether users outside the file's group may read it. */
function isReadableByOthers(file: string): boolean {
  try {
    return (statSync(file).mode & 0o004) !== 0;
  } catch {
    return false;
  }
}
