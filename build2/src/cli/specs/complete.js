/** What the completion scripts run for names that only a running rolecall or the contexts file knows. */
export const completeCommand = {
    name: "__complete",
    summary: "print names for shell completion",
    about: "Prints the names of nodes, clusters or contexts, one on each line; nothing if they are not known in time. Finds\n" +
        "the server as the command line LINE would.",
    positionals: { usage: "node|cluster|context [LINE]", least: 1, most: 2, choices: ["node", "cluster", "context"] },
    options: [],
    examples: ["rolecall __complete node 'rolecall status --server 10.0.0.1:8008 --node '"],
    checks: [],
    load: async () => (await import("../commands/complete.js")).complete,
};
//# sourceMappingURL=complete.js.map