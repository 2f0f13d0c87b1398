/** A process that announces a pause to a peer, sends heartbeats, and says what it hears: the first of two rolecalls. */
import type { PeerConfig } from "../../../../src/features/switchover/config/peer-schema.ts";
import { PgbouncerConsole, quoteDatabase } from "../../../../src/core/balancing/pgbouncer/console.ts";
import { pauseConsoleName } from "../../../../src/features/switchover/hands/pause-console.ts";
import type { PauseIntent } from "../../../../src/features/switchover/intent/pause-intent.ts";
import { PeerLink } from "../../../../src/features/switchover/peers/peer-link.ts";

/** What it is given as its argument. */
export interface AnnouncingOptions {
  readonly peer: PeerConfig;
  readonly intent: PauseIntent;
  /** Whether it sends PAUSE too. */
  readonly pauses: boolean;
}

const { peer, intent, pauses }: AnnouncingOptions = JSON.parse(process.argv[2] ?? "");
let echoes = 0;
const link = new PeerLink(peer, () => intent, {
  onEcho: () => {
    echoes += 1;
    if (echoes % 4 === 0) console.log("echo");
  },
  onTakenOver: () => console.log("taken over by the peer"),
});
const problem = await link.arm();
console.log(problem ?? "acknowledged");
if (pauses)
  for (const { database, console: target } of intent.targets) {
    const opened = await PgbouncerConsole.open(target, 10_000, {
      name: pauseConsoleName({ run: intent.run, cluster: intent.cluster, generation: 0 }),
    });
    await opened.query(`PAUSE ${quoteDatabase(database)}`, 10_000);
  }
setInterval(() => link.beat([...intent.targets.keys()], 60_000, []), 250);
