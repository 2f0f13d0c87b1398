import { clusterOption, serverOptions } from "../framework/options.js";
const by = { name: "by", value: "NAME", help: "the operator, for the log (default $USER)" };
/** Commands that take nodes out of service for a limited time. */
export const drainCommands = [
    {
        name: "drain",
        summary: "take a node out of service for a limited time",
        about: "Makes a node unfit for the replica routes with the reason drained, which is a soft no. The running rolecall\n" +
            "keeps the drain in its state_file, logs it and shows it in explain. A drain expires by itself. A new drain\n" +
            "replaces the one that the node has.",
        positionals: { usage: "NODE", least: 1, most: 1, completes: "node" },
        options: [
            { name: "for", value: "TIME", help: "how long, such as 30m or 2h, at most 30d (required)" },
            { name: "reason", value: "TEXT", help: "why, in a few words (required)" },
            { name: "all", help: "drain on all routes except liveness, not only on the replica routes" },
            by,
            clusterOption,
            ...serverOptions,
        ],
        examples: [
            'rolecall drain pg2 --for 30m --reason "kernel upgrade"',
            "rolecall drain demo/pg2 --for 2h --all --reason 'disk swap'",
        ],
        checks: [{ id: "drain", required: true }],
        load: async () => (await import("../commands/drain.js")).drain,
    },
    {
        name: "undrain",
        summary: "end a drain",
        about: "Ends a drain before it expires. Exits with 1 if the node has no drain.",
        positionals: { usage: "NODE", least: 1, most: 1, completes: "node" },
        options: [by, clusterOption, ...serverOptions],
        examples: ["rolecall undrain pg2"],
        checks: [{ id: "drain", required: true }],
        load: async () => (await import("../commands/drain.js")).undrain,
    },
    {
        name: "drains",
        summary: "list the drains",
        about: "Lists the drained nodes with the reason, the operator and the remaining time.",
        options: [...serverOptions],
        examples: ["rolecall drains"],
        checks: [{ id: "drains", required: true }],
        load: async () => (await import("../commands/drain.js")).drains,
    },
];
//# sourceMappingURL=drains.js.map