import type { Alert } from "../src/core/alerts/alert.ts";
import type { TimelineEntry } from "../src/core/alerts/timeline.ts";
import { sleep, systemClock } from "../src/ground/kit/clock.ts";
import { hexId } from "../src/ground/kit/ids.ts";
import { systemRandom } from "../src/ground/kit/random.ts";
import type { Contact } from "../src/out/contacts/contact.ts";
import { api, v1 } from "./api.ts";
import { urlOf } from "./connection.ts";
import { contactName } from "./contacts.ts";
import { CommandError } from "./exit.ts";
import type { Me, Quickstart } from "./quickstart-run.ts";
import { RefusedError } from "./refused.ts";
import { send } from "./request.ts";

interface Test {
  me: Me;
  contact: Contact;
  token: string;
  waitMs: number;
}

/** The result of a test that was acknowledged. */
interface Rung {
  alert_id: string;
  /** The kind of contact by which it was acknowledged; null: in another way. */
  acknowledged_via: string | null;
  /** Seconds from the event to the acknowledgement. */
  seconds: number;
  said: string;
}

const LOOK_MS = 500;

/**
 * Sends an event that pages the person, and follows it until it is acknowledged, with a line for each step. Throws
 * CommandError that names the step which failed.
 */
export async function ring(run: Quickstart, test: Test): Promise<Rung> {
  const { options, say } = run;
  const from = systemClock.mono();
  const since = () => `${((systemClock.mono() - from) / 1000).toFixed(1)} s`;
  const alert = await open(run, test);
  say(`✓ the event was accepted and opened alert ${alert.id}`);
  const at = v1("alerts", alert.id);
  const said = new Set<string>();
  const once = (line: string, more = "") => {
    if (!said.has(line)) say(`${line}${more}`);
    said.add(line);
  };
  for (;;) {
    const { timeline } = await api.get<{ timeline: TimelineEntry[] }>(options, `${at}/timeline`);
    const chain = chainOf(timeline, test);
    if (chain.paged) once("✓ the ladder pages you");
    if (chain.sent) once(`✓ ${test.contact.kind} accepted the page`, `, ${since()} after`);
    if (chain.answered !== null) {
      await api.post(options, `${at}/resolve`, {});
      const seconds = Math.round((systemClock.mono() - from) / 100) / 10;
      return { alert_id: alert.id, ...answer(chain.answered, test, seconds) };
    }
    if (chain.sent) once(`… press Acknowledge on the phone (${options.wait} from now on)`);
    const late = systemClock.mono() - from > test.waitMs;
    if (chain.broken !== null || late)
      throw new CommandError(
        `it stopped: ${chain.broken ?? standing(chain, run, test)}. The alert stays open: box timeline ${alert.id}, box ack ${alert.id}`,
      );
    await sleep(systemClock, LOOK_MS);
  }
}

/** Sends the event. Returns the alert that it opened. */
async function open({ options }: Quickstart, { token }: Test): Promise<Alert> {
  const dedup_key = `quickstart-${hexId(systemRandom)}`;
  const message = "This is the test of box quickstart: press Acknowledge";
  const body = { message, level: 500, dedup_key };
  const reply = await send(urlOf(options), { method: "POST", path: "/v1/ingest", token, body });
  if (reply.status >= 300)
    throw new CommandError(`it stopped: the event was refused: ${new RefusedError(reply).message}`);
  const list = `/v1/alerts?project=${encodeURIComponent(options.project)}&limit=50`;
  const { alerts } = await api.get<{ alerts: Alert[] }>(options, list);
  const alert = alerts.find((one) => one.dedup_key === dedup_key);
  if (alert !== undefined) return alert;
  throw new CommandError(
    `it stopped: the event was accepted, and no rule of ${options.project} made an alert of it (box rule list ${options.project}; --project takes another project)`,
  );
}

/** How far a page has come, by the alert's timeline. */
type Chain = ReturnType<typeof chainOf>;

function chainOf(timeline: readonly TimelineEntry[], { me, contact }: Test) {
  const text = (entry: TimelineEntry | undefined, name: string) =>
    String(entry?.detail[name] ?? "");
  const isMine = (entry: TimelineEntry) =>
    entry.detail["account"] === me.id && entry.detail["contact"] === contact.kind;
  const mine = (kind: string) => timeline.find((entry) => entry.kind === kind && isMine(entry));
  const pages = timeline.filter(({ kind }) => kind === "escalated" || kind === "fallback");
  const names = (entry: TimelineEntry) =>
    [entry.detail["accounts"]].flat().some((account) => account === me.id);
  const [sent, failed, delayed] = ["page_sent", "page_failed", "page_delayed"].map(mine);
  const done = timeline.find(({ kind }) => kind === "acknowledged");
  const unreachable = timeline.some(({ kind }) => kind === "unreachable");
  return {
    paged: pages.some(names),
    sent: sent !== undefined,
    /** The service's error while the page is tried again. */
    delayed: delayed === undefined ? null : text(delayed, "error"),
    /** Why the page can't arrive any more. */
    broken:
      failed !== undefined && sent === undefined
        ? `${contact.kind} refused the page: ${text(failed, "error")}`
        : unreachable && sent === undefined
          ? "the ladder paged you, and none of your contacts is used for it (box notify show)"
          : null,
    answered: done === undefined ? null : { by: done.account_id, via: text(done, "via") || null },
  };
}

/** The step that is still open when the time is over. */
function standing({ paged, sent, delayed }: Chain, { options }: Quickstart, test: Test): string {
  const { contact } = test;
  if (sent)
    return `${contact.kind} accepted the page for ${contactName(contact)}, and nobody has answered. If nothing rang, check that the phone has that topic or chat and allows its notifications; if it rang without a button, the box can't get the answer: box gateway list`;
  if (delayed !== null)
    return `${contact.kind} has not accepted the page: ${delayed}. The box tries again for an hour`;
  if (paged) return "the page was made but not sent: box doctor";
  return `the alert opened, and its ladder didn't page you (box rule list ${options.project}; --project takes another project)`;
}

function answer(
  { by, via }: { by: string | null; via: string | null },
  { me, contact }: Test,
  seconds: number,
): Omit<Rung, "alert_id"> {
  const isThere = via === contact.kind && by === me.id;
  const how = isThere
    ? `Acknowledged on that phone (${contact.kind}), ${seconds} s after the event.`
    : `Acknowledged ${seconds} s after the event, but not by ${contact.kind}: ${via ?? "the terminal or a page"}.`;
  return { acknowledged_via: via, seconds, said: how };
}
