/** The answer to a management call: a status and a text. */
export interface TextReply {
  readonly status: number;
  readonly text: string;
}

/** What a management call came to: an answer now, or one that must be waited for while the model moves. */
export type CallOutcome =
  | { readonly kind: "reply"; readonly reply: TextReply }
  | {
      readonly kind: "wait";
      /** Looks at the model as it is now: the answer, or `undefined` while the call is under way. */
      readonly look: () => TextReply | undefined;
      /** When to stop waiting, in the model's epoch milliseconds, and what to say then. */
      readonly untilMs: number;
      readonly late: TextReply;
    };

/** An answer at once. */
export function reply(status: number, text: string): CallOutcome {
  return { kind: "reply", reply: { status, text } };
}
