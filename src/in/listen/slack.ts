import { type EgressError, egressErrorOf } from "../../ground/kit/egress-error.ts";
import type { Talk } from "../../ground/kit/talk.ts";
import { openGateway } from "../../out/contacts/gateways.ts";
import {
  askSlackForLine,
  confirmSlack,
  dropSlackButtons,
  readSlackSaid,
  type SlackPress,
  tellSlackMember,
} from "../../out/services/slack/answers.ts";
import type { SlackGateway } from "../../out/services/slack/person.ts";
import { answerByHandle, answerInRoom } from "./answer.ts";
import { type ListenDeps, type Listener, viaOf } from "./listener.ts";
import { createListenerErrors } from "./listener-errors.ts";

/** Slack sends something every few seconds, or answers a ping. */
const SILENT_MS = 60_000;
/** How long to wait after Slack refused a token, or an app without Socket Mode. */
const REFUSED_MS = 300_000;
/** Presses whose people wait for words; further ones are dropped, and Slack tells who pressed. */
const MOST_WAITING = 200;
/** Slack shows an error to who pressed where nothing confirms it within 3 s. */
const CONFIRM_MS = 2_500;
/** After a connection that lasted less than this, the next is opened later. */
const SHORT_MS = 10_000;
const AGAIN_MS = 5_000;

/** A connection of one app. */
interface Line {
  /** The gateway's settings that it was opened with. */
  of: string;
  talk: Talk | null;
  openedAt: number;
}

/**
 * Receives presses of the tenant's Slack app over Socket Mode, on a connection that the box opens, so that it works
 * behind a firewall. Slack announces the end of a connection, and the next is opened first.
 */
export function slackListener(deps: ListenDeps): Listener {
  const { store, sealer, log, egress } = deps;
  const name = "slack-answers";
  const errors = createListenerErrors(deps, "slack");
  let stopped = false;
  /** The present connection; earlier ones may still deliver presses. */
  let line: Line | null = null;
  const lines = new Set<Line>();
  let notBefore = 0;
  let waiting = 0;
  let writing: Promise<unknown> = Promise.resolve();
  let telling = Promise.resolve();

  const gatewayNow = () => {
    const gateway = openGateway(store, sealer, "slack") as SlackGateway | null;
    return gateway?.app_token ? gateway : null;
  };
  const nameOf = (gateway: SlackGateway) =>
    JSON.stringify([gateway.app_token, gateway.bot_token, gateway.url ?? ""]);

  const leave = (left: Iterable<Line>) => {
    for (const each of [...left]) {
      lines.delete(each);
      if (line === each) line = null;
      each.talk?.close();
    }
  };

  const run = async (): Promise<number | null> => {
    const gateway = stopped ? null : gatewayNow();
    if (gateway === null) {
      leave(lines);
      return null;
    }
    leave([...lines].filter(({ of }) => of !== nameOf(gateway)));
    if (line !== null) return null;
    if (store.clock.now() < notBefore) return notBefore;
    notBefore = (await open(gateway)) ?? 0;
    return stopped ? null : notBefore === 0 ? again() : notBefore;
  };

  /** null while the connection is open and the gateway is unchanged. */
  const again = () => (line === null || changedFrom(line) ? store.clock.now() : null);
  const changedFrom = ({ of }: Line) => {
    const gateway = gatewayNow();
    return gateway === null || nameOf(gateway) !== of;
  };

  const open = async (gateway: SlackGateway): Promise<number | null> => {
    const asked = await askSlackForLine(viaOf(deps), gateway);
    if (stopped) return null;
    if ("error" in asked) {
      const leastMs = Math.max(asked.retryAfterMs ?? 0, asked.isFinal ? REFUSED_MS : 0);
      return errors.failed(asked.error, { leastMs, atOnce: asked.isFinal });
    }
    const opened: Line = { of: nameOf(gateway), talk: null, openedAt: store.clock.mono() };
    try {
      opened.talk = await egress.talk({
        url: asked.url,
        silentMs: SILENT_MS,
        heard: (text) => hear(opened, text),
        ended: (why) => ended(opened, why),
      });
    } catch (error) {
      return stopped ? null : errors.failed(egressErrorOf(error));
    }
    if (stopped) opened.talk.close();
    const before = [...lines];
    lines.add(opened);
    line = opened;
    leave(before);
    return null;
  };

  const ended = (which: Line, why: EgressError) => {
    lines.delete(which);
    if (line !== which || stopped) return;
    line = null;
    if (store.clock.mono() - which.openedAt < SHORT_MS)
      notBefore = errors.failed(why, { leastMs: AGAIN_MS });
    deps.wake(name);
  };

  const hear = (from: Line, text: string) => {
    const said = readSlackSaid(text);
    if (said.kind === "hello") errors.recovered();
    if (said.kind === "leave") {
      if (line === from) line = null;
      if (said.isOff)
        notBefore = errors.failed("Socket Mode is switched off for the app", {
          leastMs: REFUSED_MS,
          atOnce: true,
        });
      deps.wake(name);
    }
    if (said.kind !== "envelope") return;
    const { id, press } = said;
    if (press === null) return from.talk?.say(confirmSlack(id));
    if (waiting >= MOST_WAITING) return log.warn("a press at Slack was dropped: too many wait");
    waiting++;
    const written = writing.then(() => pressed(deps, press));
    writing = written;
    confirm(from, id, written);
    telling = Promise.all([written, telling])
      .then(([done]) => tell(press, done))
      .finally(() => waiting--);
  };

  /** Confirms a press once it is durable, and in time in any case. */
  const confirm = (from: Line, id: string, written: Promise<unknown>) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = store.clock.after(CONFIRM_MS, resolve);
    written
      .then(() => store.durable() ?? undefined)
      .then(resolve, () => {})
      .finally(cancel);
    void promise.then(() => from.talk?.say(confirmSlack(id), { atOnce: true }));
  };

  /** A press is handled even while this stops. */
  const tell = async (press: SlackPress, { words, isDone }: Pressed): Promise<void> => {
    const { channel, user, message } = press;
    const gateway = stopped ? null : gatewayNow();
    if (channel === null || gateway === null) return;
    if (words !== null) await tellSlackMember(viaOf(deps), gateway, { channel, user, text: words });
    if (isDone && message !== null)
      await dropSlackButtons(viaOf(deps), gateway, { channel, message });
  };

  return {
    name,
    run,
    wokenBy: ["people"],
    changed() {
      notBefore = 0;
    },
    stop() {
      stopped = true;
      leave(lines);
      return telling;
    },
  };
}

/** The result of a press. */
interface Pressed {
  /** The text for the person who pressed; null where the message itself will show it. */
  words: string | null;
  /** The message's buttons should go. A page's own message is replaced as a whole, with the alert's state. */
  isDone?: true;
}

async function pressed(deps: ListenDeps, { user, action, value }: SlackPress): Promise<Pressed> {
  try {
    if (action === "ack_alert" && /^\d{1,15}$/.test(value)) {
      const told = await answerInRoom(deps, { alert: value, kind: "slack", presser: user });
      return { words: told.words, ...(told.isTaken && { isDone: true }) };
    }
    if (!/^(ack|resolve)$/.test(action) || !/^[a-z0-9]{1,32}$/.test(value)) return { words: null };
    const { isTaken, words } = await answerByHandle(deps, {
      handle: value,
      kind: "slack",
      verb: action === "ack" ? "acknowledge" : "resolve",
      isAt: (address) => address === user,
    });
    return { words: isTaken ? null : words };
  } catch (error) {
    deps.log.error({ err: error }, "an answer by Slack could not be written");
    return { words: "This could not be saved: try again." };
  }
}
