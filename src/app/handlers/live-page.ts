import type { ClusterState, Snapshot } from "../../cluster/snapshot.ts";
import { version } from "../../config/version.ts";
import type { EventLog } from "../../events/event-log.ts";
import type { AskedCheck } from "../../health/rules/asked-checks.ts";
import type { AskedOverview } from "../../health/documents/asked-nodes.ts";
import type { Past } from "../../events/stored/past.ts";
import type { ConfigOverview } from "../../http/diagnostics/config-overview.ts";
import { RecentLag } from "../../http/live/recent-lag.ts";
import { LiveStreams } from "../../http/live/live-streams.ts";
import { PageFiles } from "../../http/live/page-files.ts";
import { readPageFile } from "../../program/program-files.ts";
import type { Store } from "../../state/store.ts";
import type { AnswerSources } from "./answer-sources.ts";

/** What the live page follows and writes, beside the snapshot. */
interface LivePageContext {
  readonly eventLog: EventLog;
  /** What keeps the past beyond the memory of this process, now. */
  readonly past: () => Pick<Past, "addLag">;
  /** Ms since the epoch. */
  readonly wall: () => number;
  /** The checks with a limit for lag that balancers ask. */
  readonly asked: (cluster: string) => readonly AskedCheck[];
  /** The nodes that balancers ask for. */
  readonly askedNodes: (cluster: ClusterState) => AskedOverview;
  /** Which configuration is in force. */
  readonly config: () => ConfigOverview;
}

/** The live page of this process: its files and its streams. */
export class LivePage {
  readonly files: PageFiles = new PageFiles(readPageFile);
  readonly streams: LiveStreams;
  readonly lag: RecentLag;
  readonly #eventLog: EventLog;

  constructor(sources: AnswerSources, { eventLog, past, wall, asked, askedNodes, config }: LivePageContext) {
    this.#eventLog = eventLog;
    this.lag = new RecentLag({ ...sources, wall, onMinute: (minute) => past().addLag(minute) });
    this.streams = new LiveStreams({
      ...sources,
      wall,
      asked,
      askedNodes,
      events: () => eventLog.events.recent(),
      openEvents: (cluster) => eventLog.openCount(cluster),
      version: version(),
      config,
    });
  }

  /** Follows what changes, for as long as the process runs. */
  follow(store: Store): void {
    store.onChange((before, after) => {
      this.streams.clusterChanged(after.name, before.revision === after.revision ? "age" : "change");
      this.lag.sample(after);
    });
    this.#eventLog.events.subscribe(({ cluster }) => this.streams.eventPublished(cluster));
  }

  /** Another configuration is in force: forgets what is no longer monitored, and lets all clients connect again. */
  reloaded(snapshot: Snapshot): void {
    this.lag.retain(snapshot);
    this.streams.endAll("reload");
  }
}
