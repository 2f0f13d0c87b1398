import { clientVariables } from "../../core/config/sources/client-variables.ts";
import { connectionOf, contextNamed, requireContexts, type Connection } from "../../core/command/connect/connection.ts";
import { defaultServers } from "../../core/command/connect/listener-finder.ts";
import { writeCurrent } from "../../core/command/contexts/select-context.ts";
import type { Contexts, ServerContext } from "../../core/command/contexts/contexts-file.ts";
import type { CommandContext } from "../../core/command/framework/command-context.ts";
import { CommandError } from "../../core/command/framework/command-error.ts";
import { safe } from "../../core/command/output/style.ts";
import { table } from "../../core/command/output/table.ts";
import { errorMessage } from "../../core/cluster/values/error-message.ts";

/** `rolecall context list`: lists the contexts and marks the one in use. */
export async function listContexts({ args, io, result, print, style }: CommandContext): Promise<void> {
  const contexts = requireContexts({ io, result });
  const variable = io.env[clientVariables.context] ?? "";
  const current = args.text("context") ?? (variable === "" ? contexts.current : variable);
  result.cover("contexts", "complete", { detail: contexts.file });
  result.data = {
    file: contexts.file,
    current,
    contexts: contexts.contexts.map((row) => ({ ...row, current: row.name === current })),
  };
  if (contexts.contexts.length === 0) return print(noContexts(contexts));
  const rows = contexts.contexts.map((row) => [
    { text: row.name === current ? "*" : "" },
    { text: row.name, paint: style.bold },
    { text: row.server },
    { text: credentialOf(row) },
  ]);
  print(table(["", "NAME", "SERVER", "CREDENTIAL"], rows));
}

function noContexts({ file, exists }: Contexts): string {
  return (
    `${exists ? `${file} has no contexts` : `There is no ${file}`}. Example of its content:\n` +
    "  current: prod\n" +
    "  contexts:\n" +
    "    prod: { server: https://rolecall.example:8008, token_file: ~/.config/rolecall/prod.token }\n"
  );
}

function credentialOf({ token_file: token, user_file: userFile, user, cert }: ServerContext): string {
  if (token !== undefined) return "token";
  if (user !== undefined) return `user ${user}`;
  if (userFile !== undefined) return "user and password";
  return cert === undefined ? "none" : "certificate";
}

/** `rolecall context use NAME`: makes a context the current one. */
export async function useContext({ args, io, result, print }: CommandContext): Promise<void> {
  const contexts = requireContexts({ io, result });
  const [name] = args.positionals;
  if (name === undefined) {
    const known = contexts.contexts.map((row) => row.name).join(", ");
    throw new CommandError(
      "RC001",
      `context use takes the name of a context (${known || "none is known"}), got nothing`,
    );
  }
  const selected = contextNamed(contexts, name, "The context");
  try {
    writeCurrent(contexts.file, selected.name);
  } catch (error) {
    throw new CommandError("RC006", `Cannot write ${contexts.file}: ${errorMessage(error)}`);
  }
  result.cover("contexts", "complete", { detail: contexts.file });
  result.data = { file: contexts.file, current: selected.name, server: selected.server };
  print(`Commands now use the context ${selected.name}: ${safe(selected.server)}\n`);
  const variables = [clientVariables.server, clientVariables.context].filter(
    (variable) => (io.env[variable] ?? "") !== "",
  );
  if (variables.length > 0)
    print(`But ${variables.join(" and ")} in the environment ${variables.length === 1 ? "replaces" : "replace"} it.\n`);
}

/** `rolecall context`: prints the connection in effect. */
export async function showContext(command: CommandContext): Promise<void> {
  const { result, print, style } = command;
  const connection = connectionOf(command);
  const rows = settingRows(connection);
  result.cover("contexts", "complete", { detail: connection.context?.value ?? "no context" });
  result.data = {
    context: connection.context,
    settings: rows.map(([setting, value, from]) => ({ setting, value, from })),
    unused: connection.settings.unused.map(([setting, { value, from }]) => ({ setting, value, from })),
  };
  print(
    table(
      ["SETTING", "VALUE", "FROM"],
      rows.map(([setting, value, from]) => [{ text: setting, paint: style.bold }, { text: value }, { text: from }]),
    ),
  );
  for (const [name, { value, from }] of connection.settings.unused)
    print(style.yellow(safe(`not used: ${name} ${value} of ${from}, which names another server`)) + "\n");
}

/** The settings in effect. Context, server and timeout always have a row, with the default if they are not set. */
function settingRows({ settings, context: selected }: Connection): readonly (readonly [string, string, string])[] {
  const { values, address } = settings;
  const server = values.get("server");
  const rest = [...values].filter(([name]) => name !== "server" && name !== "timeout");
  const timeout = values.get("timeout");
  return [
    ["context", selected?.value ?? "none", selected?.from ?? "default"],
    server === undefined || address === null
      ? ["server", `${defaultServers.node} or ${defaultServers.admin}, as the command needs`, "default"]
      : ["server", address.hasPort ? address.url.origin : `${address.url.origin} (port 8008 or 9108)`, server.from],
    ["timeout", timeout?.value ?? "10s (management calls 2min)", timeout?.from ?? "default"],
    ...rest.map(([name, { value, from }]) => [name, value, from] as const),
  ];
}
