import { auditedStore } from "../../ground/audit/record.ts";
import type { Reader, Store } from "../../ground/store/store.ts";
import { duration } from "../../out/outbox/message.ts";
import { type AnswerKey, type AnswerRight, markAnswered, rightOf } from "../../out/paging/right.ts";
import { findAlertRow } from "./alert.ts";
import { changeEach } from "./bulk.ts";
import { type AlertHolder, holderOf, livingAlert } from "./holder.ts";

/** What a person can say to a page, whichever way it reached them. */
export type AnswerVerb = "acknowledge" | "resolve" | "unack";

/** What an answer came to. */
export type PageAnswered =
  /** Nobody was given such a key, or it has ended. */
  | { kind: "unknown" }
  /** To resolve alerts unseen is nobody's wish: the message named several, and none was chosen. Nothing was done. */
  | { kind: "several"; named: number }
  /** It was to be resolved in the moment in which the person had acknowledged it: a tap that came twice. Nothing was done. */
  | { kind: "just_acknowledged" }
  /** It is as the person wants it, or was over before. */
  | {
      kind: "answered";
      verb: AnswerVerb;
      accountId: string;
      /** How each stands now; `did`: this answer made it so. */
      alerts: (AlertHolder & { did: boolean })[];
    };

/**
 * What a person says; `alertId`: of one alert that the message named. Without it an acknowledgement takes all of them. `unack`:
 * it is taken back, by whose it is.
 */
interface Answering {
  verb: AnswerVerb;
  alertId?: number;
  /** By a word or a key of its own: no tap that came twice. */
  spoken?: true;
  /** The client's, where a link was followed. */
  address?: string;
}

/**
 * The one way from a button, a link, a key or a reply to an alert: acts as the person whose page it was. To say it again
 * does nothing. In transactions of its own, since a message may name a thousand alerts. Throws where the disk is full.
 */
export async function answerPage(
  store: Store,
  key: AnswerKey,
  answer: Answering,
): Promise<PageAnswered> {
  const { verb, alertId } = answer;
  const right = rightOf(store, secondsOf(store), key);
  if (right === null) return { kind: "unknown" };
  const named = right.named.filter((one) => alertId === undefined || one.alertId === alertId);
  if (named.length === 0) return { kind: "unknown" };
  const isMine = (id: number) => findAlertRow(store, id)?.acked_by === right.accountId;
  const ids = alertsOf(store, named).filter((id) => verb !== "unack" || isMine(id));
  if (verb === "resolve" && ids.length > 1) return { kind: "several", named: ids.length };
  store.write((tx) =>
    markAnswered(
      tx,
      named.flatMap(({ pages }) => pages),
    ),
  );
  const { accountId, via } = right;
  const author = { accountId, via: "page", hint: via, address: answer.address ?? "" } as const;
  const audited = auditedStore(store, {
    ...author,
    verb: "answerPage",
    target: { kind: "alert", id: "" },
  });
  const results = await changeEach(audited, ids.map(String), {
    verb,
    accountId,
    via,
    ...(!answer.spoken && { pressed: true }),
  });
  if (results.some(({ code }) => code === "just_acknowledged"))
    return { kind: "just_acknowledged" };
  const alerts = results
    .filter(({ ok }) => ok)
    .map(({ id, changed: did }) => ({ ...holderOf(store, Number(id)), did }));
  return { kind: "answered", verb, accountId, alerts };
}

/** How the alerts of a message stand, the one that it is answered for first; null for a key that opens nothing. */
export function readPage(
  store: Store,
  key: AnswerKey,
): { right: AnswerRight; alerts: { named: number; whose: AlertHolder }[] } | null {
  const right = rightOf(store, secondsOf(store), key);
  if (right === null) return null;
  const seen = new Set<number>();
  const alerts = right.named.flatMap(({ alertId: named }) => {
    const living = livingAlert(store, named);
    if (seen.has(living) || !isThere(store, living)) return [];
    seen.add(living);
    return [{ named, whose: holderOf(store, living) }];
  });
  return { right, alerts };
}

const secondsOf = ({ clock }: Store): number => Math.floor(clock.now() / 1000);

/** Those that still stand for what was named, each once. */
function alertsOf(reader: Reader, named: AnswerRight["named"]): number[] {
  const living = named.map(({ alertId }) => livingAlert(reader, alertId));
  return [...new Set(living)].filter((id) => isThere(reader, id));
}

function isThere(reader: Reader, id: number): boolean {
  return reader.sql<[id: number]>("SELECT 1 FROM alerts WHERE id = ?").get(id) !== undefined;
}

/** What the person is told, in a sentence of plain text: who has it now. `now` in Unix seconds. */
export function answerWords(answered: PageAnswered, now: number): string {
  if (answered.kind === "unknown") return "This can't be answered any more.";
  if (answered.kind === "several")
    return `This named ${answered.named} alerts: resolve them one by one.`;
  if (answered.kind === "just_acknowledged")
    return "You acknowledged it this very moment. To resolve it, say so again.";
  const { alerts, verb } = answered;
  const [first] = alerts;
  if (first === undefined) return "This can't be answered any more.";
  if (alerts.length === 1) return whoseWords(first, now);
  const yours = alerts.filter(({ did }) => did).length;
  const done = { acknowledge: "acknowledged", resolve: "resolved", unack: "open again" }[verb];
  const others = alerts.length - yours;
  const were = others === 1 ? "was" : "were";
  const rest = others === 0 ? "" : `; ${others} ${were} taken or over before`;
  return `${yours} ${yours === 1 ? "alert" : "alerts"} ${done}${rest}.`;
}

/** `Alert 17 is acknowledged by Ann, 3 min ago.` */
export function whoseWords(
  { alertId, state, by, at }: AlertHolder & { did?: boolean },
  now: number,
): string {
  const ago = now - at < 5 ? "just now" : `${duration(now - at)} ago`;
  if (state === "open")
    return `Alert ${alertId} has been open for ${duration(Math.max(0, now - at))}.`;
  const done = state === "acknowledged" ? "acknowledged" : "resolved";
  return `Alert ${alertId} is ${done}${by === null ? "" : ` by ${by}`}, ${ago}.`;
}
