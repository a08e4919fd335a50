import { type AlertRow, factsOf, getAlertRow } from "../../core/alerts/alert.ts";
import {
  type AnswerVerb,
  answerPage,
  answerWords,
  type PageAnswered,
  readPage,
  whoseWords,
} from "../../core/alerts/answer.ts";
import { apartOf } from "../../core/alerts/apart.ts";
import { type TakenAlert, takeByDevice } from "../../core/alerts/device-answer.ts";
import { labelTexts } from "../../core/alerts/labels.ts";
import { lookAhead, nextRungs } from "../../core/alerts/rungs-ahead.ts";
import { displayNameOf } from "../../core/alerts/said.ts";
import { unixSeconds } from "../../ground/kit/clock.ts";
import { type AckAlert, ackPage, noAckPage } from "../../ground/page/ack-page.ts";
import type { PageAnswer } from "../../ground/page/answer.ts";
import type { Reader } from "../../ground/store/store.ts";
import { duration } from "../../out/outbox/message.ts";
import type { Tenant } from "../../tenant/tenant.ts";
import { SECRET_ADDRESS } from "./answer.ts";
import { type Limit, RateLimited } from "./limits.ts";
import { pageAnswer, type RawOperation, rawOperation, textAnswer } from "./raw-operation.ts";
import type { AppContext, RawRoute } from "./raw-route.ts";
import { decodeText, readBytes } from "./read-request.ts";
import { sendPage } from "./send-page.ts";

export interface AckPages {
  /** Whose link it may be; null for what is surely nobody's: nothing is opened for it. */
  find(capability: string): Promise<Tenant | null> | Tenant | null;
  /** Links that open nothing, by address. */
  tries: Limit;
  address(c: AppContext): string;
  /** Who sent this request has shown who they are. */
  known(c: AppContext): void;
  /** Whether TLS ends here. */
  tls: boolean;
  /** Whether an alert has a page of its own here. */
  console: boolean;
}

const PATH = "/ack/{capability}";

const FORM_BYTES = 4096;

/** What changed so lately was pressed on this very page: what stands on it now rests for a moment. */
const FRESH_SECONDS = 3;

/**
 * Where a page's link leads (contract §27). GET changes nothing, since programs fetch links that nobody followed; POST
 * answers the page as the person to whom the link was sent. What opens nothing has one answer, whatever the reason.
 */
export function ackRoutes(pages: AckPages): RawRoute[] {
  return [
    { method: "GET", path: PATH, handle: async (c) => sendPage(await shown(c, pages), pages.tls) },
    { method: "POST", path: PATH, handle: (c) => answered(c, pages) },
  ];
}

const capabilityOf = (c: AppContext): string => c.req.param("capability") ?? "";

async function shown(c: AppContext, pages: AckPages): Promise<PageAnswer> {
  const capability = capabilityOf(c);
  const tenant = await pages.find(capability);
  const page = tenant && readPage(tenant.store, { capability, sealer: tenant.sealer });
  if (tenant === null || page === null) return stranger(c, pages);
  welcome(c, pages, tenant);
  const now = unixSeconds(tenant.clock);
  const rows = new Map(
    page.alerts.map(({ whose: { alertId } }) => [alertId, getAlertRow(tenant.store, alertId)]),
  );
  const apart = apartOf(tenant.store, [...rows.values()]);
  const next = nextIn(tenant.store, { now, me: page.right.accountId });
  const alerts = page.alerts.map(
    ({ named, whose }): AckAlert => ({
      ...saidOf(rows.get(whose.alertId) as AlertRow),
      apart: apart.get(whose.alertId) ?? [],
      named,
      id: whose.alertId,
      where: `${whose.project} · ${whose.rule}`,
      level: rows.get(whose.alertId)?.level ?? 0,
      next: page.alerts.length > 1 ? null : next(rows.get(whose.alertId) as AlertRow),
      message: whose.message,
      state: whose.state,
      whose: whoseWords(whose, now),
      isMine: rows.get(whose.alertId)?.acked_by === page.right.accountId,
      isFresh: whose.state !== "open" && now - whose.at < FRESH_SECONDS,
    }),
  );
  const [first, ...others] = alerts;
  if (first === undefined) return stranger(c, pages);
  const as = displayNameOf(tenant.store, page.right.accountId);
  return ackPage({ as, alerts: [first, ...others], console: pages.console });
}

/** Who is told next of an open alert, and in how long. */
function nextIn(
  reader: Reader,
  { now, me }: { now: number; me: string },
): (row: AlertRow) => string | null {
  return (row) => {
    if (row.state !== "open") return null;
    const rungs = nextRungs(reader, row, { now, look: lookAhead(reader, now) });
    const [first] = rungs;
    const accounts = [...new Set(rungs.flatMap((rung) => rung.accounts))];
    if (first === undefined || accounts.length === 0) return null;
    const names = accounts
      .slice(0, 2)
      .map((account) => (account === me ? "you" : displayNameOf(reader, account)));
    const more = accounts.length > 2 ? ` and ${accounts.length - 2} more` : "";
    return `${names.join(", ")}${more} in ${duration(Math.max(0, first.at - now))}`;
  };
}

/** What the alert's sender said of it. */
function saidOf(row: AlertRow): Pick<AckAlert, "title" | "labels" | "details" | "links"> {
  const { title, details, links, images, identifiers, ...alert } = factsOf(row);
  return {
    title,
    labels: labelTexts({ ...alert, labels: { ...identifiers, ...alert.labels } }),
    details,
    links: [...links, ...images.map(({ src, alt = "" }) => ({ href: src, text: alt || "Image" }))],
  };
}

function welcome(c: AppContext, pages: AckPages, tenant: Tenant): void {
  pages.known(c);
  c.set("tenant", tenant);
}

const stranger = (c: AppContext, pages: AckPages): PageAnswer =>
  strangerAt(c, pages, { kind: "ack", page: noAckPage });

/** Only what opens nothing is limited, so that nobody's guessing keeps a person from answering. `kind`: of link. */
export function strangerAt(
  c: AppContext,
  { tries, address }: AckPages,
  { kind, page }: { kind: string; page: (waitSeconds?: number) => PageAnswer },
): PageAnswer {
  c.set("refusedAs", "not_found");
  try {
    c.set("rateHeaders", tries.spend(`${address(c)} ${kind}`));
    return page();
  } catch (error) {
    if (!(error instanceof RateLimited)) throw error;
    c.set("refusedAs", error.code);
    c.set("rateHeaders", error.headers);
    return page(error.retryAfter ?? 1);
  }
}

async function answered(c: AppContext, pages: AckPages): Promise<Response> {
  if (/\bapplication\/json\b/.test(c.req.header("accept") ?? "")) return byDevice(c, pages);
  const isBrowser = /\btext\/html\b/.test(c.req.header("accept") ?? "");
  const form = new URLSearchParams(decodeText(await readBytes(c.req.raw, FORM_BYTES)));
  const capability = capabilityOf(c);
  const tenant = await pages.find(capability);
  const key = tenant && { capability, sealer: tenant.sealer };
  if (key === null || tenant === null || readPage(tenant.store, key) === null) {
    const refusal = stranger(c, pages);
    if (isBrowser) return sendPage(refusal, pages.tls);
    return inWords(refusal.status, answerWords({ kind: "unknown" }, 0));
  }
  welcome(c, pages, tenant);
  const verb = verbIn(form);
  if (verb === null) {
    c.set("refusedAs", "invalid_request");
    return inWords(400, "Send verb=acknowledge or verb=resolve, as a form.");
  }
  const named = /^[1-9]\d{0,15}$/.exec(form.get("alert") ?? "")?.[0];
  const answer = {
    verb,
    address: pages.address(c),
    ...(named !== undefined && { alertId: Number(named) }),
  };
  const result = await answerPage(tenant.store, key, answer);
  // Back to the page, which says who has it: to load it again sends nothing.
  if (isBrowser) return sendPage(backTo(capability), pages.tls);
  return inWords(STATUS[result.kind], answerWords(result, unixSeconds(tenant.clock)));
}

const NOTHING = { state: null, acked_by: null, acked_at: null };

/** For a notification's own button: the alert of the link is acknowledged, nothing else, and how it stands is told. */
async function byDevice(c: AppContext, pages: AckPages): Promise<Response> {
  const capability = capabilityOf(c);
  await readBytes(c.req.raw, FORM_BYTES);
  const tenant = await pages.find(capability);
  const key = tenant && { capability, sealer: tenant.sealer };
  const found = tenant && key && (await takeByDevice(tenant.store, key, pages.address(c)));
  if (tenant === null || found === null) {
    const { status } = stranger(c, pages);
    return inJson(status, { ...NOTHING, said: answerWords({ kind: "unknown" }, 0) });
  }
  welcome(c, pages, tenant);
  const { ended, ...answer } = found;
  return inJson(ended ? 410 : 200, answer);
}

function inJson(status: number, answer: Omit<TakenAlert, "ended">): Response {
  return Response.json(answer, { status, headers: SECRET_ADDRESS });
}

const STATUS: Record<PageAnswered["kind"], number> = {
  answered: 200,
  unknown: 404,
  several: 409,
  just_acknowledged: 409,
};

function verbIn(form: URLSearchParams): AnswerVerb | null {
  const verb = form.get("verb");
  return verb === "acknowledge" || verb === "resolve" || verb === "unack" ? verb : null;
}

/** Relative, since the box may stand below a path of its host. */
function backTo(capability: string): PageAnswer {
  return {
    ...noAckPage(),
    status: 303,
    headers: { ...noAckPage().headers, Location: capability },
    body: "",
  };
}

/** For a phone's button: programs show the text, if anything. */
function inWords(status: number, words: string): Response {
  return new Response(`${words}\n`, {
    status,
    headers: { "content-type": "text/plain; charset=utf-8", ...SECRET_ADDRESS },
  });
}

const stands = {
  "application/json": {
    schema: {
      type: "object",
      required: ["state", "acked_by", "acked_at", "said"],
      properties: {
        state: { type: ["string", "null"], enum: ["open", "acknowledged", "resolved", null] },
        acked_by: { type: ["string", "null"], description: "Who has it, by name" },
        acked_at: { type: ["integer", "null"] },
        said: { type: "string" },
      },
    },
  },
};
const nothing = "A link that never was one, or has ended: one answer for all";
const tooMany = "Too many such links; Retry-After says how long to wait";

/** The page as the OpenAPI document shows it. */
export const ackOperations: readonly RawOperation[] = [
  rawOperation("GET", PATH, {
    tag: "Alerts",
    name: "showAckPage",
    summary:
      "The web page that a notification links to: what happened, who acknowledged it, and buttons. To open it changes nothing",
    answers: { 200: pageAnswer("OK"), 404: nothing, 429: tooMany },
  }),
  rawOperation("POST", PATH, {
    tag: "Alerts",
    name: "answerByLink",
    summary:
      "Acknowledge, undo that, or resolve, as the person to whom the link was sent. To repeat it changes nothing. With `Accept: application/json` no body is needed: only the link's own alert is acknowledged",
    form: {
      type: "object",
      required: ["verb"],
      properties: {
        verb: { type: "string", enum: ["acknowledge", "resolve", "unack"] },
        alert: {
          type: "string",
          description:
            "One of the alerts that the message named; without it all of them are acknowledged",
        },
      },
    },
    answers: {
      200: textAnswer(
        "Done, or so before: who has it, in words; as JSON where that is asked for",
        "text/plain",
        stands,
      ),
      303: "The same for a browser: back to the page",
      400: "No verb",
      404: nothing,
      409: "The message named several, and which to resolve isn't said; or the same person acknowledged it within the last two seconds",
      410: {
        description:
          "Only with `Accept: application/json`: the link has expired, its subscription was removed or its alert is resolved. Nothing was changed",
        content: stands,
      },
      413: "A form over 4 KiB",
      429: tooMany,
    },
  }),
];
