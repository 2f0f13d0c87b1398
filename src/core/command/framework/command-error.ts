type CommandErrorRule =
  | "RC001"
  | "RC004"
  | "RC005"
  | "RC006"
  | "RC007"
  | "RC008"
  | "RC009"
  | "RC020"
  | "RC031"
  | "RC107"
  | "RC111"
  | "RC112"
  | "RC150"
  | "RC179";

/** Ends a command with exit code 2. The message becomes a finding of the given rule. */
export class CommandError extends Error {
  readonly rule: CommandErrorRule;
  /** What to do, if that is more exact than the action of the rule. */
  readonly action: string | null;

  constructor(rule: CommandErrorRule, message: string, action: string | null = null) {
    super(message);
    this.name = "CommandError";
    this.rule = rule;
    this.action = action;
  }
}
