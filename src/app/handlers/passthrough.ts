import type { Offers } from "../../core/feature/offer.ts";
import { passthroughs } from "../../core/feature/offers.ts";
import { refuseUnopened } from "../../core/health/calls/refusal.ts";
import { refuse } from "../../core/http/forwarding/refuse.ts";
import type { IncomingCall } from "../../core/http/message/incoming-call.ts";
import type { Passthrough } from "../../core/http/message/passthrough.ts";

/** Sends requests to nodes by what offers to; refuses them while nothing does. */
export function passthroughIn(offers: Offers): Passthrough {
  const now = (): Passthrough => passthroughs.in(offers)[0] ?? closed;
  return {
    manage: (call, incoming) => now().manage(call, incoming),
    fetch: (request, incoming) => now().fetch(request, incoming),
  };
}

const closed: Passthrough = {
  manage: (_, incoming) => refuseAll(incoming),
  fetch: (_, incoming) => refuseAll(incoming),
};

function refuseAll({ response }: IncomingCall): Promise<void> {
  refuse(response, refuseUnopened("forward a request"));
  return Promise.resolve();
}
