import { bashScript } from "../completion/bash.js";
import { fishScript } from "../completion/fish.js";
import { zshScript } from "../completion/zsh.js";
/** `rolecall completion bash|zsh|fish`: prints a script generated from the command descriptions. */
export async function completion({ args, commands, result, print }) {
    const [shell = ""] = args.positionals;
    const script = shell === "fish" ? fishScript(commands) : shell === "zsh" ? zshScript(commands) : bashScript(commands);
    result.data = { shell, script };
    print(script);
}
//# sourceMappingURL=completion.js.map