import { clientVariables } from "../../config/sources/client-variables.ts";
import type { ServerContext } from "./contexts-file.ts";
import { isSameHost, parseServerAddress, type ServerAddress } from "./server-address.ts";

/** What a user can set for the connection to a running rolecall. */
export type SettingName =
  | "server"
  | "tls"
  | "timeout"
  | "token-file"
  | "user-file"
  | "user"
  | "password-file"
  | "ca"
  | "cert"
  | "key"
  | "insecure";

/** A value, and where it comes from: `--server`, `ROLECALL_SERVER`, `context prod` or `default`. */
export interface Setting {
  readonly value: string;
  readonly from: string;
}

/** The settings of one source. */
export interface SettingLayer {
  readonly from: (name: SettingName) => string;
  readonly values: ReadonlyMap<SettingName, string>;
}

/** The settings in effect. */
export interface ServerSettings {
  readonly values: ReadonlyMap<SettingName, Setting>;
  /** `null` if no source names a server. */
  readonly address: ServerAddress | null;
  /** Settings that are not used, because their source names another server. */
  readonly unused: readonly (readonly [SettingName, Setting])[];
}

/** Credentials: one source sets all of them. */
const credentialNames = ["token-file", "user-file", "user", "password-file"] as const;
const certificateNames = ["cert", "key"] as const;
/** Settings that belong to the server of their source, each group as a whole. */
const serverGroups: readonly (readonly SettingName[])[] = [credentialNames, certificateNames, ["ca"], ["insecure"]];

/**
 * Combines the sources: the first one that has a value wins. Credentials, certificates and `insecure` of a source that
 * names a server belong to that server. They are not used for another host, nor over http if that server is https.
 * @param layers the sources, the one with the highest precedence first
 * @returns the settings, or the source and text of a server that is not valid
 */
export function combineSettings(layers: readonly SettingLayer[]): ServerSettings | { readonly invalid: Setting } {
  const settingOf = (layer: SettingLayer, name: SettingName): Setting | null => {
    const value = layer.values.get(name);
    return value === undefined ? null : { value, from: layer.from(name) };
  };
  const values = new Map<SettingName, Setting>();
  const serverLayer = layers.find((layer) => layer.values.has("server"));
  const server = serverLayer === undefined ? null : settingOf(serverLayer, "server");
  const address = serverLayer === undefined ? null : addressOf(serverLayer);
  if (server !== null && address === null) return { invalid: server };
  if (server !== null) values.set("server", server);
  const timeoutLayer = layers.find((layer) => layer.values.has("timeout"));
  const timeout = timeoutLayer === undefined ? null : settingOf(timeoutLayer, "timeout");
  if (timeout !== null) values.set("timeout", timeout);
  const unused: [SettingName, Setting][] = [];
  for (const names of serverGroups) {
    const having = layers.filter((layer) => names.some((name) => layer.values.has(name)));
    const chosen = having.find((layer) => isFor(layer, address));
    for (const layer of having) {
      for (const name of names) {
        const setting = settingOf(layer, name);
        if (setting !== null && layer === chosen) values.set(name, setting);
        else if (setting !== null && !isFor(layer, address)) unused.push([name, setting]);
      }
    }
  }
  return { values, address, unused };
}

/** Whether the credentials of a source may be used for a server. */
function isFor(layer: SettingLayer, address: ServerAddress | null): boolean {
  const own = addressOf(layer);
  if (own === null) return true;
  if (address === null || !isSameHost(own.url, address.url)) return false;
  return own.url.protocol !== "https:" || address.url.protocol === "https:";
}

function addressOf({ values }: SettingLayer): ServerAddress | null {
  const server = values.get("server");
  return server === undefined ? null : parseServerAddress(server, values.get("tls") === "true");
}

/** The settings that a context makes. */
export function contextLayer(context: ServerContext): SettingLayer {
  const values = new Map<SettingName, string>();
  for (const [key, value] of Object.entries(context)) {
    const name = key.replace("_", "-");
    if (isSettingName(name) && value !== undefined && value !== false) values.set(name, String(value));
  }
  return { from: () => `context ${context.name}`, values };
}

/** The settings that environment variables make. An empty variable sets nothing. */
export function environmentLayer(env: Readonly<Record<string, string | undefined>>): SettingLayer {
  const values = new Map<SettingName, string>();
  for (const [option, variable] of Object.entries(clientVariables)) {
    const value = env[variable] ?? "";
    if (isSettingName(option) && value !== "") values.set(option, value);
  }
  const names = new Map<string, string>(Object.entries(clientVariables));
  return { from: (name) => names.get(name) ?? name, values };
}

/** The settings of the command line. @param text returns the value of an option, or `null` */
export function flagLayer(text: (option: string) => string | null, isInsecure: boolean): SettingLayer {
  const values = new Map<SettingName, string>();
  for (const name of ["server", "timeout", "token-file", "user-file", "ca", "cert", "key"] as const) {
    const value = text(name);
    if (value !== null) values.set(name, value);
  }
  if (isInsecure) values.set("insecure", "true");
  return { from: (name) => `--${name}`, values };
}

const settingNames: readonly string[] = [
  "server",
  "tls",
  "timeout",
  ...serverGroups.flat(),
] satisfies readonly SettingName[];

function isSettingName(name: string): name is SettingName {
  return settingNames.includes(name);
}
