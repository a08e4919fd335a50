import { createBuckets } from "../../ground/kit/bucket.ts";
import { unixSeconds } from "../../ground/kit/clock.ts";
import { openGateway } from "../../out/contacts/gateways.ts";
import { readPositionOf, setReadPosition } from "../../out/contacts/read-position.ts";
import {
  answerTelegramPress,
  dropTelegramButtons,
  readTelegramUpdates,
  type TelegramLook,
  type TelegramPress,
  type TelegramUpdate,
  type TelegramWords,
  tellTelegram,
} from "../../out/services/telegram/answers.ts";
import type { TelegramGateway } from "../../out/services/telegram/person.ts";
import { type AnswerResult, answerByHandle, answerInRoom } from "./answer.ts";
import { type ListenDeps, type Listener, viaOf } from "./listener.ts";
import { createListenerErrors } from "./listener-errors.ts";

/** Telegram keeps updates for a day, and can restart their numbers after a quiet week: an older position is dropped. */
const PLACE_SECONDS = 2 * 86_400;
/** An update that failed so often is skipped: it must not block the others. */
const MOST_TRIES = 4;
/** How long to wait after Telegram refused a token, or another program reads the bot. */
const REFUSED_MS = 300_000;
const TAKEN_MS = 30_000;
/** Greetings that are answered: strangers find a bot by its name. */
const GREETINGS = { rate: 0.2, burst: 20, keys: 1 };
/** Telegram waits so long for a reply. */
const REPLY_MS = 10_000;

/**
 * Reads the updates of the tenant's bot by long polling, so that it works behind a firewall. An update counts as read
 * once its effect is committed.
 */
export function telegramListener(deps: ListenDeps): Listener {
  const { store, sealer, log } = deps;
  const name = "telegram-answers";
  const errors = createListenerErrors(deps, "telegram");
  const greetings = createBuckets(store.clock, GREETINGS);
  let stopped = false;
  let look: { gateway: TelegramGateway; abort: AbortController } | null = null;
  let failed = { update: -1, tries: 0 };

  const gatewayNow = () => openGateway(store, sealer, "telegram") as TelegramGateway | null;

  const run = async (): Promise<number | null> => {
    const gateway = stopped ? null : gatewayNow();
    if (gateway === null) return null;
    const abort = new AbortController();
    look = { gateway, abort };
    const place = readPositionOf(store, "telegram", gateway.token);
    const isNew = place !== null && place.at + PLACE_SECONDS > unixSeconds(store.clock);
    const offset = isNew ? Number(place.place) : null;
    const found = await readTelegramUpdates(viaOf(deps, abort.signal), gateway, offset);
    look = null;
    if ("why" in found) return found.why === "stopped" ? again() : notHeard(found);
    errors.recovered();
    return act(gateway, found.updates);
  };

  /** Now, unless it is stopped. */
  const again = () => (stopped ? null : store.clock.now());

  const notHeard = ({ why, error, retryAfterMs = 0 }: Extract<TelegramLook, { why: string }>) => {
    if (why === "failed") return errors.failed(error, { leastMs: retryAfterMs });
    return errors.failed(error, { leastMs: why === "taken" ? TAKEN_MS : REFUSED_MS, atOnce: true });
  };

  const act = async (gateway: TelegramGateway, updates: readonly TelegramUpdate[]) => {
    const replies: Promise<void>[] = [];
    try {
      for (const update of updates) {
        const reply = await done(update);
        if (reply !== null) replies.push(reply(gateway));
        store.write((tx) =>
          setReadPosition(tx, "telegram", { of: gateway.token, place: String(update.id + 1) }),
        );
      }
    } catch (error) {
      log.error({ err: error }, "an answer by Telegram could not be written");
      return errors.failed("an answer could not be written: see the log");
    } finally {
      await Promise.all(replies);
    }
    return again();
  };

  type Reply = (gateway: TelegramGateway) => Promise<void>;

  const done = async (update: TelegramUpdate): Promise<Reply | null> => {
    try {
      return await acted(update);
    } catch (error) {
      failed = { update: update.id, tries: failed.update === update.id ? failed.tries + 1 : 1 };
      if (failed.tries < MOST_TRIES) throw error;
      log.error({ err: error }, "an answer by Telegram is passed over");
      return null;
    }
  };

  const acted = async ({ press, words }: TelegramUpdate): Promise<Reply | null> => {
    if (press !== null) {
      const { isTaken, words: text, isChat } = await pressed(deps, press);
      const reply = { id: press.id, text, alert: !isTaken };
      const { at } = press;
      return async (gateway) => {
        await answerTelegramPress(viaNow(), gateway, reply);
        // A page's own message is replaced as a whole, with the alert's new state.
        if (isChat && isTaken && at !== null) await dropTelegramButtons(viaNow(), gateway, at);
      };
    }
    const greeting = words === null ? null : greetingTo(words);
    if (words === null || greeting === null || !greetings.take("").allowed) return null;
    return (gateway) => tellTelegram(viaNow(), gateway, { chat: words.chat, text: greeting });
  };

  const viaNow = () => ({ ...viaOf(deps), timeoutMs: REPLY_MS });

  return {
    name,
    run,
    wokenBy: ["people"],
    changed() {
      if (look === null) return;
      const now = gatewayNow();
      const { token, url } = look.gateway;
      if (now?.token !== token || now.url !== url) look.abort.abort();
    },
    stop() {
      stopped = true;
      look?.abort.abort();
    },
  };
}

/** On a page's own message, the person must be in the chat that was paged, or be the owner of the chat. */
async function pressed(
  deps: ListenDeps,
  { data, from, at }: TelegramPress,
): Promise<AnswerResult & { isChat?: true }> {
  const [, alert] = /^ack@(\d{1,15})$/.exec(data) ?? [];
  if (alert !== undefined) {
    const told = await answerInRoom(deps, { alert, kind: "telegram", presser: from });
    return { ...told, isChat: true };
  }
  const [, verb, handle] = /^(ack|resolve):([a-z0-9]{1,32})$/.exec(data) ?? [];
  if (verb === undefined || handle === undefined)
    return { isTaken: false, words: "This button belongs to another box." };
  return answerByHandle(deps, {
    handle,
    kind: "telegram",
    verb: verb === "ack" ? "acknowledge" : "resolve",
    isAt: (address) => address === from || address === at?.chat,
  });
}

/** The answer to `/start`; null for any other text. */
function greetingTo({ chat, isPrivate, text }: TelegramWords): string | null {
  if (!/^\/start(@\w+)?(\s|$)/.test(text)) return null;
  const what = isPrivate ? "This chat's id is" : "This group's id is";
  return `${what} ${chat}. To be paged here: box contact add telegram -- ${chat}`;
}
