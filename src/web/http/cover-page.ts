import { type AskAnswered, answerAsk, findAsk } from "../../core/oncall/ask-answers.ts";
import { COVER, readCover } from "../../core/oncall/cover-capability.ts";
import { auditedStore } from "../../ground/audit/record.ts";
import { unixSeconds } from "../../ground/kit/clock.ts";
import { ServiceError } from "../../ground/kit/errors.ts";
import type { PageAnswer } from "../../ground/page/answer.ts";
import { coverPage, noCoverPage } from "../../ground/page/cover-page.ts";
import type { Tenant } from "../../tenant/tenant.ts";
import { type AckPages, strangerAt } from "./ack-page.ts";
import { pageAnswer, type RawOperation, rawOperation } from "./raw-operation.ts";
import type { AppContext, RawRoute } from "./raw-route.ts";
import { decodeText, readBytes } from "./read-request.ts";
import { sendPage } from "./send-page.ts";

const PATH = `${COVER}/{capability}`;
const FORM_BYTES = 4096;

/**
 * Where the link of an ask for cover leads. GET changes nothing, since programs fetch links that nobody followed; POST answers
 * as the person to whom the link was sent, once. What opens nothing has one answer, whatever the reason.
 */
export function coverRoutes(pages: AckPages): RawRoute[] {
  return [
    { method: "GET", path: PATH, handle: async (c) => sendPage(await shown(c, pages), pages.tls) },
    {
      method: "POST",
      path: PATH,
      handle: async (c) => sendPage(await answered(c, pages), pages.tls),
    },
  ];
}

type Found = { tenant: Tenant; askId: string; accountId: string };

async function find(c: AppContext, pages: AckPages): Promise<Found | null> {
  const capability = c.req.param("capability") ?? "";
  const tenant = await pages.find(capability);
  const right = tenant && readCover(tenant.sealer, capability);
  if (tenant === null || right === null || right.tenantId !== tenant.id) return null;
  if (findAsk(tenant.store, right) === null) return null;
  pages.known(c);
  c.set("tenant", tenant);
  return { tenant, askId: right.askId, accountId: right.accountId };
}

const BECAME: Record<Exclude<AskAnswered["kind"], "taken">, string> = {
  unknown: "It is over.",
  over: "The shift has begun: it can no longer be taken.",
  changed: "The schedule has changed since: nothing was done.",
  declined: "You said no.",
  yours: "It is yours.",
};

async function shown(c: AppContext, pages: AckPages): Promise<PageAnswer> {
  const found = await find(c, pages);
  return found === null ? stranger(c, pages) : pageOf(found, null);
}

function pageOf({ tenant, ...who }: Found, refused: string | null): PageAnswer {
  const ask = findAsk(tenant.store, who);
  if (ask === null) return noCoverPage();
  const { row, said, takenBy } = ask;
  const became = (): string | null => {
    if (row.state === "taken" && row.takenBy === who.accountId) return BECAME.yours;
    if (row.state === "taken") return `${takenBy} has it.`;
    if (said !== null) return BECAME.declined;
    if (row.startsAt <= unixSeconds(tenant.clock)) return BECAME.over;
    return row.state === "open" ? null : BECAME.changed;
  };
  const { whose, schedule, when, inReturn } = ask;
  return coverPage({
    whose,
    schedule,
    when,
    inReturn,
    note: row.note,
    became: refused ?? became(),
  });
}

async function answered(c: AppContext, pages: AckPages): Promise<PageAnswer> {
  const form = new URLSearchParams(decodeText(await readBytes(c.req.raw, FORM_BYTES)));
  const found = await find(c, pages);
  if (found === null) return stranger(c, pages);
  const verb = form.get("verb");
  if (verb !== "take" && verb !== "no") {
    c.set("refusedAs", "invalid_request");
    return { ...pageOf(found, "Press one of the buttons."), status: 400 };
  }
  const { tenant, askId, accountId } = found;
  const store = auditedStore(tenant.store, {
    accountId,
    via: "page",
    hint: "link",
    address: pages.address(c),
    verb: "answerAsk",
    target: { kind: "ask", id: askId },
  });
  try {
    store.write((tx) => answerAsk(tx, { askId, accountId }, verb));
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "invalid_override") throw error;
    return { ...pageOf(found, `It could not be done. ${error.message}`), status: 400 };
  }
  // Back to the page: to load it again sends nothing.
  const page = pageOf(found, null);
  const Location = c.req.param("capability") ?? "";
  return { status: 303, headers: { ...page.headers, Location }, body: "" };
}

const stranger = (c: AppContext, pages: AckPages): PageAnswer =>
  strangerAt(c, pages, { kind: "cover", page: noCoverPage });

const nothing = pageAnswer("A link that never was one: one answer for all");
const tooMany = "Too many such links; Retry-After says how long to wait";

/** The page as the OpenAPI document shows it. */
export const coverOperations: readonly RawOperation[] = [
  rawOperation("GET", PATH, {
    tag: "On-call",
    name: "showAsk",
    summary: "The page behind the link of an ask for cover; changes nothing",
    answers: { 200: pageAnswer("OK"), 404: nothing, 429: tooMany },
  }),
  rawOperation("POST", PATH, {
    tag: "On-call",
    name: "answerAsk",
    summary:
      "Take the shift, or say no, as the person to whom the link was sent: once, and until the shift begins. The first yes makes the override",
    form: {
      type: "object",
      required: ["verb"],
      properties: { verb: { type: "string", enum: ["take", "no"] } },
    },
    answers: {
      303: "Back to the page, which says what became of it",
      400: pageAnswer("No verb, or it can't be done: the page says why"),
      404: nothing,
      413: "A form over 4 KiB",
      429: tooMany,
    },
  }),
];
