/** The stream of the live page, as a browser reads it. */
export interface LivePage {
  /** How long it took to send the first rows, in ms. */
  readonly rowsMs: number;
  readonly close: () => void;
}

/**
 * Opens the live page. It is read until it is closed.
 * @param admin the base URL of the admin listener
 * @throws Error if the stream ends before it has sent rows
 */
export function openLivePage(admin: string): Promise<LivePage> {
  const beganMs = performance.now();
  const closing = new AbortController();
  const close = (): void => closing.abort();
  return new Promise((resolve, reject) => {
    const read = async (): Promise<void> => {
      const { body } = await fetch(`${admin}/events/stream`, { signal: closing.signal });
      const decoder = new TextDecoder();
      let text = "";
      let hasRows = false;
      for await (const piece of body ?? []) {
        if (hasRows) continue;
        text += decoder.decode(piece, { stream: true });
        hasRows = /^event: rows$/m.test(text);
        if (hasRows) resolve({ rowsMs: performance.now() - beganMs, close });
      }
      throw new Error("Cannot open the live page: its stream must send rows, got its end");
    };
    read().catch(reject); // after the first rows it rejects nothing
  });
}
