import { serverOptions } from "../framework/options.js";
/** Commands for the servers of a user. */
export const contextCommands = [
    {
        name: "contexts",
        summary: "list the contexts: named servers of contexts.yaml",
        about: "Lists the contexts of ~/.config/rolecall/contexts.yaml (in XDG_CONFIG_HOME, if that is set) and marks the one\n" +
            "that commands use. docs/contexts.md describes the file.",
        options: serverOptions.filter(({ name }) => name === "context"),
        examples: ["rolecall contexts"],
        checks: [{ id: "contexts", required: true }],
        load: async () => (await import("../commands/contexts.js")).listContexts,
    },
    {
        name: "context",
        summary: "show which server commands use and why, or select a context",
        about: "show (the default) prints the server, the credentials and the other options that commands use, and where each\n" +
            "value comes from: a flag, an environment variable, a context or the default. use NAME makes a context the\n" +
            "current one; list does the same as rolecall contexts.",
        positionals: {
            usage: "[show|list|use NAME]",
            least: 0,
            most: 2,
            choices: ["show", "list", "use"],
            completes: "context",
        },
        options: [...serverOptions],
        examples: ["rolecall context show", "rolecall context use prod", "rolecall context show --context prod"],
        checks: [{ id: "contexts", required: true }],
        load: async () => (await import("../commands/contexts.js")).context,
    },
];
//# sourceMappingURL=contexts.js.map