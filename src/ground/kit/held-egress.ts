import type { Clock } from "./clock.ts";
import type { DialRequest } from "./dial.ts";
import type { EgressClient, ShareBounds } from "./egress.ts";
import { type EgressError, EgressFault } from "./egress-error.ts";
import { type EgressRequest, unsent } from "./exchange.ts";
import { type DurableGate, inOrder } from "./gate.ts";
import type { Talk, TalkRequest } from "./talk.ts";

/** What a request waits at most where it says no time of its own, in milliseconds. */
const MOST_MS = 10_000;

/** The same client, but nothing leaves by it, or by its shares, before the gate lets it through. */
export function heldEgress(client: EgressClient, gate: DurableGate, clock: Clock): EgressClient {
  const closing = new AbortController();

  /** null: it may leave; else why it never does. */
  const passed = async (
    waiting: Promise<void>,
    { timeoutMs = MOST_MS, signal }: Pick<EgressRequest, "timeoutMs" | "signal">,
  ): Promise<EgressError | null> => {
    const { promise, resolve } = Promise.withResolvers<EgressError | null>();
    const stop = () => resolve("stopped");
    const cancel = clock.after(timeoutMs, () => resolve("busy"));
    const ends = [closing.signal, ...(signal ? [signal] : [])];
    for (const end of ends) end.addEventListener("abort", stop, { once: true });
    waiting.then(() => resolve(null), stop);
    const why = await promise;
    cancel();
    for (const end of ends) end.removeEventListener("abort", stop);
    return why;
  };

  const mustPass = async (waiting: Promise<void>) => {
    const why = await passed(waiting, {});
    if (why !== null) throw new EgressFault(why);
  };

  const sendAfter = async (waiting: Promise<void>, request: EgressRequest) => {
    const why = await passed(waiting, request);
    return why === null ? client.send(request) : unsent(why);
  };

  return {
    send(request) {
      const waiting = gate();
      return waiting === null ? client.send(request) : sendAfter(waiting, request);
    },
    async dial(request: DialRequest) {
      const waiting = gate();
      if (waiting !== null) await mustPass(waiting);
      return client.dial(request);
    },
    async talk(request: TalkRequest) {
      const waiting = gate();
      if (waiting !== null) await mustPass(waiting);
      return heldTalk(await client.talk(request), gate);
    },
    origins: () => client.origins(),
    share: (bounds?: ShareBounds) => heldEgress(client.share(bounds), gate, clock),
    async close() {
      closing.abort();
      await client.close();
    },
  };
}

function heldTalk(talk: Talk, gate: DurableGate): Talk {
  const say = inOrder(gate, () => talk.close());
  return {
    say(text, how) {
      if (how?.atOnce) talk.say(text);
      else say(() => talk.say(text));
    },
    close: () => talk.close(),
  };
}
