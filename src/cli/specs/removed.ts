/** Where every release has these files. */
const ofPackage = "the npm package (rolecall-VERSION.tgz)";

/** Commands that earlier versions had, with their first argument where only that is gone, and what does their work now. */
export const removedCommands: ReadonlyMap<string, string> = new Map([
  [
    "rehearse",
    "rolecall switchover CLUSTER --to NODE --seamless --dry-run checks a switchover and forecasts its phases; without " +
      "--dry-run it makes the switchover and prints each phase with its time.",
  ],
  [
    "render helm",
    `The chart is in ${ofPackage}: put your configuration and values into files, then helm upgrade --install rolecall ` +
      "deploy/helm/rolecall --set-file configFile=rolecall.yaml --values values.yaml. docs/kubernetes.md has the values.",
  ],
  [
    "render kubernetes",
    `The manifests are in ${ofPackage}: edit deploy/kubernetes/rolecall.yaml where its comments say so, then kubectl ` +
      "apply -f deploy/kubernetes/rolecall.yaml. deploy/kubernetes/monitoring.yaml is for the Prometheus Operator.",
  ],
  [
    "render systemd",
    `The units are in ${ofPackage}: edit those of deploy/systemd where their comments say so, then cp ` +
      "deploy/systemd/rolecall.service deploy/systemd/rolecall.socket /etc/systemd/system/. docs/install.md shows it.",
  ],
  ["render hint-script", "rolecall render patroni prints the script, with the settings that call it."],
]);
