/** The reply to a management call: a status and a text. */
export interface TextReply {
  readonly status: number;
  readonly text: string;
}

/** The outcome of a management call: a reply now, or one to wait for while the model advances. */
export type CallOutcome =
  | { readonly kind: "reply"; readonly reply: TextReply }
  | {
      readonly kind: "wait";
      /** Returns the reply according to the present model, or `undefined` while the call is in progress. */
      readonly poll: () => TextReply | undefined;
      /** When to stop waiting, in ms since the epoch on the model's clock. */
      readonly untilMs: number;
      /** The reply at that time. */
      readonly timeoutReply: TextReply;
    };

/** Returns the outcome of a call that is answered at once. */
export function reply(status: number, text: string): CallOutcome {
  return { kind: "reply", reply: { status, text } };
}
