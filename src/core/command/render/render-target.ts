import type { DatabaseAddress } from "../../cluster/node.ts";
import type { Config } from "../../config/model/config.ts";
import type { CommandContext } from "../framework/command-context.ts";
import type { OptionSpec } from "../framework/command-description.ts";
import type { RenderOptions } from "./options.ts";
import type { Targets } from "./targets.ts";

/** What every target needs that lists members: they, and the options that are checked for all. */
export interface RenderInput {
  readonly targets: Targets;
  readonly options: RenderOptions;
}

/** The input of every target of `rolecall render`. */
export interface RenderContext {
  readonly command: CommandContext;
  /** Loads the configuration that the command line names; `null`: it names a running rolecall. */
  readonly loadConfig: (() => Promise<Config>) | null;
  /**
   * Finds the members, and reports them.
   * @throws CommandError if they are not known, or (RC001) if an option is not valid
   */
  readonly findInput: () => Promise<RenderInput>;
  /** How HAProxy asks the agents; of no agent, if no feature is one. */
  readonly loadAgentChecks: () => Promise<FindAgentChecks>;
}

/** Returns the text of a target. @throws CommandError if it cannot be rendered */
export type Render = (context: RenderContext) => Promise<string> | string;

/** What the help of a load balancer says. */
export interface RenderTexts {
  readonly summary: string;
  readonly about: string;
  /** Of options that load balancers share, by their names: what they do for this one. */
  readonly help: { readonly "write-port": string; readonly "stats-port": string; readonly zone: string };
}

/** What `rolecall render` can write. */
export interface RenderTarget {
  /** Its name on the command line. */
  readonly kind: string;
  /** The option by which it takes the place of the other target of this name; `null`: it has the name to itself. */
  readonly byOption: string | null;
  /** What its help says; `null` where it takes the place of another. */
  readonly texts: RenderTexts | null;
  /** The options that no other target has. */
  readonly options: readonly OptionSpec[];
  readonly examples: readonly string[];
  readonly load: () => Promise<Render>;
}

/** How HAProxy asks the agents of rolecall: the parts of its configuration. */
export interface AgentChecks {
  /** The proxy in front of several agents; empty if there is one. */
  readonly proxy: readonly string[];
  /** The words of `default-server` that turn on agent checks. */
  readonly words: string;
  /** The words of one `server` that name it to the agent. @param server its cluster and node: `demo/pg1` */
  send(server: string, check: string): string;
}

/** Returns how HAProxy asks the agents on these edges; `null`: the options ask for no agent checks. */
export type FindAgentChecks = (edges: readonly DatabaseAddress[], options: RenderOptions) => AgentChecks | null;

/** The agent checks that a feature brings. */
export interface AgentChecksBringer {
  readonly options: readonly OptionSpec[];
  readonly load: () => Promise<FindAgentChecks>;
}
