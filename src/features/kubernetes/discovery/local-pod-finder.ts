import type { Config } from "../../../core/config/model/config.ts";
import type { LocalNodeFinder } from "../../../core/probe/client/node-finder.ts";
import { setSystemTimer } from "../../../core/probe/schedule/system-timer.ts";
import { podProtocol } from "../config/pod-seed.ts";

const now = (): number => performance.now();

/** Finds pods for processes that open no features. Nothing of it is loaded before it is needed. */
export function localPodFinder({ kubernetes }: Pick<Config, "kubernetes">): LocalNodeFinder {
  let opened: Promise<LocalNodeFinder> | null = null;
  let isClosed = false;
  const open = async (): Promise<LocalNodeFinder> => {
    const [{ PodFinder }, { SharedClient }] = await Promise.all([
      import("./pod-finder.ts"),
      import("../api/shared-client.ts"),
    ]);
    const shared = new SharedClient({ now });
    shared.configure(kubernetes);
    const finder = new PodFinder({ client: () => shared.client, now, random: Math.random, setTimer: setSystemTimer });
    const close = (): void => {
      finder.stop();
      shared.close();
    };
    if (isClosed) close();
    return { protocol: podProtocol, find: (address) => finder.find(address), close };
  };
  return {
    protocol: podProtocol,
    find: async (address) => {
      if (isClosed) return { kind: "none", why: "the search has ended" };
      opened ??= open();
      return (await opened).find(address);
    },
    close: () => {
      isClosed = true;
      void opened?.then((finder) => finder.close());
    },
  };
}
