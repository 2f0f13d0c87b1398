import { clientVariables } from "../../config/sources/client-variables.ts";
import { loadContexts, type Contexts, type ServerContext } from "../contexts/contexts-file.ts";
import {
  combineSettings,
  contextLayer,
  environmentLayer,
  flagLayer,
  type ServerSettings,
  type Setting,
} from "../contexts/server-settings.ts";
import type { CommandContext } from "../framework/command-context.ts";
import { suggest } from "../../cluster/values/did-you-mean.ts";
import { CommandError } from "../framework/command-error.ts";
import { diagnoseContextsProblem } from "../result/config-problem.ts";

/** How a command reaches a running rolecall. */
export interface Connection {
  readonly settings: ServerSettings;
  /** The selected context and what selected it: `--context`, `ROLECALL_CONTEXT` or the contexts file. */
  readonly context: Setting | null;
}

/** What the connection of a command is derived from. */
export type ConnectionInputs = Pick<CommandContext, "args" | "io" | "result">;

/**
 * Finds out how to reach rolecall: flags first, then environment variables, then the context, then the defaults. A
 * context that a flag selects counts as flags. A server that a flag or a variable names replaces the current context of
 * the file; the file is not read then.
 * @throws CommandError if an option or the contexts file is not valid
 */
export function connectionOf(inputs: ConnectionInputs): Connection {
  const { args, io } = inputs;
  const flags = flagLayer((name) => args.text(name), args.has("insecure"));
  const environment = environmentLayer(io.env);
  const selected = selectContext(inputs, flags.values.has("server") || environment.values.has("server"));
  const fromContext = selected === null ? [] : [contextLayer(selected.context)];
  const isByFlag = args.text("context") !== null;
  const settings = combineSettings(
    isByFlag ? [flags, ...fromContext, environment] : [flags, environment, ...fromContext],
  );
  if ("invalid" in settings) {
    const { value, from } = settings.invalid;
    const allowed = "a URL such as http://127.0.0.1:8008, or HOST:PORT";
    throw new CommandError("RC001", `${from} must be ${allowed}, got ${shown(value)}`);
  }
  return {
    settings,
    context: selected === null ? null : { value: selected.context.name, from: selected.from },
  };
}

/** A server may hold a password by mistake: the user of a URL is not shown. */
function shown(server: string): string {
  return JSON.stringify(server.replaceAll(/\/\/[^/]*@/g, "//***@").slice(0, 200));
}

interface SelectedContext {
  readonly context: ServerContext;
  readonly from: string;
}

function selectContext(inputs: ConnectionInputs, hasServer: boolean): SelectedContext | null {
  const { args, io } = inputs;
  const flag = args.text("context");
  const variable = io.env[clientVariables.context] ?? "";
  if (flag === null && variable === "" && hasServer) return null;
  const contexts = requireContexts(inputs);
  const from = flag !== null ? "--context" : variable !== "" ? clientVariables.context : contexts.file;
  const name = flag ?? (variable === "" ? contexts.current : variable);
  return name === null ? null : { context: contextNamed(contexts, name, from), from };
}

/**
 * Loads the contexts of the user.
 * @throws CommandError if the file has problems, which are findings then
 */
export function requireContexts({ io, result }: Pick<CommandContext, "io" | "result">): Contexts {
  const loaded = loadContexts(io.env);
  if (loaded.ok) return loaded.contexts;
  for (const problem of loaded.problems) diagnoseContextsProblem(result, problem);
  throw new CommandError("RC006", `Cannot use ${loaded.file}: it has problems`);
}

/** Finds a context. @throws CommandError (RC001) with the known names, if there is none of that name */
export function contextNamed({ contexts, file }: Contexts, name: string, from: string): ServerContext {
  const context = contexts.find((candidate) => candidate.name === name);
  if (context !== undefined) return context;
  const known = contexts.map((candidate) => candidate.name);
  if (known.length === 0)
    throw new CommandError(
      "RC001",
      `${from} must be a context of ${file}, which has none, got ${JSON.stringify(name)}`,
    );
  const near = suggest(name, known);
  const hint = near === null ? "" : `: did you mean ${near}?`;
  throw new CommandError(
    "RC001",
    `${from} must be one of ${known.join(", ")}, got ${JSON.stringify(name)}${hint}`,
    "Run rolecall context list for their servers.",
  );
}
