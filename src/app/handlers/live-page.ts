import { version } from "../../config/version.ts";
import type { EventLog } from "../../events/event-log.ts";
import { LiveStreams } from "../../http/live/live-streams.ts";
import { PageFiles } from "../../http/live/page-files.ts";
import { readPageFile } from "../../program/program-files.ts";
import type { Store } from "../../state/store.ts";
import type { AnswerSources } from "./answer-sources.ts";

/** The live page of this process: its files and its streams. */
export class LivePage {
  readonly files: PageFiles = new PageFiles(readPageFile);
  readonly streams: LiveStreams;
  readonly #eventLog: EventLog;

  constructor(sources: AnswerSources, eventLog: EventLog) {
    this.#eventLog = eventLog;
    this.streams = new LiveStreams({ ...sources, events: () => eventLog.events.recent(), version: version() });
  }

  /** Follows what changes, for as long as the process runs. */
  follow(store: Store): void {
    store.onChange((_, { name }) => this.streams.clusterChanged(name));
    this.#eventLog.events.subscribe(() => this.streams.eventPublished());
  }
}
