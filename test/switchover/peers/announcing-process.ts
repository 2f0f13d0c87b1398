/** A process that announces a pause to a peer, sends heartbeats, and says what it hears: the first of two rolecalls. */
import type { PeerConfig } from "../../../src/config/model/config.ts";
import type { PauseIntent } from "../../../src/switchover/intent/pause-intent.ts";
import { PeerLink } from "../../../src/switchover/peers/peer-link.ts";

const { peer, intent }: { readonly peer: PeerConfig; readonly intent: PauseIntent } = JSON.parse(process.argv[2] ?? "");
let echoes = 0;
const link = new PeerLink(peer, intent, {
  onEcho: () => {
    echoes += 1;
    if (echoes % 4 === 0) console.log("echo");
  },
  onTakenOver: (by) => console.log(`taken over by ${by === "" ? "nobody" : "the peer"}`),
});
const problem = await link.arm();
console.log(problem ?? "acknowledged");
setInterval(() => link.beat([...intent.targets.keys()], 60_000), 250);
