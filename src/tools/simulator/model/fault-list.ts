/** A fault as people choose it: its name in `POST /sim/{node}/{fault}`, its parameter, and what it does. */
export interface FaultDescription {
  readonly name: string;
  /** An example of the parameter with its value, such as `bytes=9MB`. */
  readonly parameter: string | null;
  /** What happens to the node: the rest of a sentence about it. */
  readonly effect: string;
}

/** Every fault, in the order of the index. `heal` undoes all of them. */
export const faultList: readonly FaultDescription[] = [
  { name: "kill", parameter: null, effect: "its process is gone, and its port refuses connections" },
  { name: "freeze", parameter: null, effect: "its process is stopped, and connections to it hang" },
  { name: "hang", parameter: null, effect: "its API hangs, but its database works" },
  { name: "slow", parameter: "ms=500", effect: "its API answers that much later (default 1000 ms)" },
  { name: "garbage", parameter: "kind=json", effect: "its API sends invalid responses: json, http, html or huge" },
  { name: "lag", parameter: "bytes=9MB", effect: "its replay stays that far behind; without bytes, replay stops" },
  { name: "detach", parameter: null, effect: "it receives no WAL any more, and its API does not say so" },
  { name: "claim", parameter: null, effect: "its API claims the leader lock, as a second primary would" },
];

/** The names that undo every fault of a node. */
export const undoNames = ["heal", "revive"] as const;

/** Every name that `POST /sim/{node}/{fault}` takes. */
export const faultNames: readonly string[] = [...faultList.map(({ name }) => name), ...undoNames];
