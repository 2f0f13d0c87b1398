/** Ends a command with exit code 2. The message becomes a finding of the given rule. */
export class CommandError extends Error {
    rule;
    /** What to do, if that is more exact than the action of the rule. */
    action;
    constructor(rule, message, action = null) {
        super(message);
        this.name = "CommandError";
        this.rule = rule;
        this.action = action;
    }
}
//# sourceMappingURL=command-error.js.map