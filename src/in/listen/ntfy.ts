import { openGateway } from "../../out/contacts/gateways.ts";
import { readPositionOf, setReadPosition } from "../../out/contacts/read-position.ts";
import { answerable } from "../../out/paging/answerable.ts";
import { readNtfyAnswers } from "../../out/services/ntfy/answers.ts";
import { answerByHandle, each } from "./answer.ts";
import { type ListenDeps, type Listener, viaOf } from "./listener.ts";
import { createListenerErrors } from "./listener-errors.ts";

/**
 * How often the topic is read, by the age of the latest page. The public server allows an address one request in five
 * seconds on average, and pages need some of them.
 */
const PACES = [
  { withinSeconds: 300, everyMs: 5_000 },
  { withinSeconds: 3_600, everyMs: 15_000 },
] as const;
const SLOWEST_MS = 60_000;
/** How often to check, while pages are being sent, whether one has arrived. */
const SOON_MS = 2_000;

/** Reads the answers that phones post to the second topic, while there is a page to answer. */
export function ntfyListener(deps: ListenDeps): Listener {
  const { store, sealer, log } = deps;
  const errors = createListenerErrors(deps, "ntfy");
  let stopped = false;
  let notBefore = 0;

  const read = async (gateway: { url?: string; access_token?: string; topic: string }) => {
    const of = `${gateway.url ?? ""} ${gateway.topic}`;
    const place = readPositionOf(store, "ntfy", of)?.place ?? "";
    const found = await readNtfyAnswers(viaOf(deps), gateway, place);
    if (stopped) return null;
    if (found === null) return errors.failed("the topic for answers can't be read");
    await each(found.answers, ({ verb, handle }) =>
      answerByHandle(deps, { verb, handle, kind: "ntfy" }),
    );
    if (found.last !== place)
      store.write((tx) => setReadPosition(tx, "ntfy", { of, place: found.last }));
    errors.recovered();
    return null;
  };

  const run = async (): Promise<number | null> => {
    const now = store.clock.now();
    if (stopped) return null;
    const { newest, more } = answerable(store, "ntfy");
    if (newest === null) return more ? now + SOON_MS : null;
    if (now < notBefore) return notBefore;
    const { answers: topic = "", ...server } = openGateway(store, sealer, "ntfy") ?? {};
    if (topic === "") return null;
    notBefore = now + paceFor(now / 1000 - newest);
    try {
      notBefore = Math.max(notBefore, (await read({ ...server, topic })) ?? 0);
    } catch (error) {
      log.error({ err: error }, "an answer by ntfy could not be written");
      notBefore = errors.failed("an answer could not be written: see the log");
    }
    return notBefore;
  };

  return {
    name: "ntfy-answers",
    run,
    changed: () => {},
    wokenBy: ["people", "contact"],
    stop() {
      stopped = true;
    },
  };
}

const paceFor = (age: number): number =>
  PACES.find(({ withinSeconds }) => age <= withinSeconds)?.everyMs ?? SLOWEST_MS;
