/** Commands that earlier versions had, with their first argument where only that is gone, and what does their work now. */
export const removedCommands: ReadonlyMap<string, string> = new Map([
  [
    "rehearse",
    "rolecall switchover CLUSTER --to NODE --seamless --dry-run checks a switchover and forecasts its phases; without " +
      "--dry-run it makes the switchover and prints each phase with its time.",
  ],
  ["render hint-script", "rolecall render patroni prints the script, with the settings that call it."],
]);
