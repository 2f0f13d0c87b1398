import type { CommandContext } from "../../core/command/framework/command-context.ts";
import { bashScript } from "./bash.ts";
import { fishScript } from "./fish.ts";
import { zshScript } from "./zsh.ts";

/** `rolecall completion bash|zsh|fish`: prints a script generated from the command descriptions. */
export async function completion({ args, commands, result, print }: CommandContext): Promise<void> {
  const [shell = ""] = args.positionals;
  const script = shell === "fish" ? fishScript(commands) : shell === "zsh" ? zshScript(commands) : bashScript(commands);
  result.data = { shell, script };
  print(script);
}
