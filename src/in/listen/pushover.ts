import { unixSeconds } from "../../ground/kit/clock.ts";
import { openGateway } from "../../out/contacts/gateways.ts";
import { answerable, openReceipts } from "../../out/paging/answerable.ts";
import { readPushoverReceipt } from "../../out/services/pushover/answers.ts";
import type { PushoverGateway } from "../../out/services/pushover/person.ts";
import { answerByHandle, each } from "./answer.ts";
import { type ListenDeps, type Listener, viaOf } from "./listener.ts";
import { createListenerErrors } from "./listener-errors.ts";

const EVERY_MS = 10_000;
/** How often to check, while pages are being sent, whether one has arrived. */
const SOON_MS = 2_000;
/** An emergency rings for three hours at most. */
const RINGS_SECONDS = 3 * 3_600;
/** Receipts of one read, newest first. */
const MOST_RECEIPTS = 50;

/** Asks Pushover who acknowledged an emergency, while one rings for an alert that nobody has acknowledged. */
export function pushoverListener(deps: ListenDeps): Listener {
  const { store, sealer, log } = deps;
  const errors = createListenerErrors(deps, "pushover");
  let over = new Set<string>();
  let stopped = false;
  let notBefore = 0;

  const ask = async (gateway: PushoverGateway, receipts: { ref: string; handle: string }[]) => {
    let answers = 0;
    await each(receipts, async ({ ref, handle }) => {
      const receipt = stopped ? null : await readPushoverReceipt(viaOf(deps), { gateway }, ref);
      if (stopped || receipt === null) return;
      answers++;
      if (receipt.acknowledgedAt !== null)
        await answerByHandle(deps, { handle, verb: "acknowledge", kind: "pushover" });
      if (receipt.isOver) over.add(ref);
    });
    if (stopped) return null;
    if (answers === 0) return errors.failed("receipts can't be read");
    errors.recovered();
    return null;
  };

  const run = async (): Promise<number | null> => {
    const now = store.clock.now();
    if (stopped) return null;
    const gateway = openGateway(store, sealer, "pushover") as PushoverGateway | null;
    if (gateway === null) return null;
    const since = unixSeconds(store.clock) - RINGS_SECONDS;
    const ringing = openReceipts(store, { kind: "pushover", since, most: MOST_RECEIPTS });
    over = new Set(ringing.map(({ ref }) => ref).filter((ref) => over.has(ref)));
    const asked = ringing.filter(({ ref }) => !over.has(ref));
    if (asked.length === 0) return answerable(store, "pushover").more ? now + SOON_MS : null;
    if (now < notBefore) return notBefore;
    notBefore = now + EVERY_MS;
    try {
      notBefore = Math.max(notBefore, (await ask(gateway, asked)) ?? 0);
    } catch (error) {
      log.error({ err: error }, "an answer by Pushover could not be written");
      notBefore = errors.failed("an answer could not be written: see the log");
    }
    return notBefore;
  };

  return {
    name: "pushover-answers",
    run,
    changed: () => {},
    wokenBy: ["people", "contact"],
    stop() {
      stopped = true;
    },
  };
}
