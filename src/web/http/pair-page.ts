import { unixSeconds } from "../../ground/kit/clock.ts";
import { ServiceError } from "../../ground/kit/errors.ts";
import type { PageAnswer } from "../../ground/page/answer.ts";
import { lookAtCode } from "../../people/codes.ts";
import { type PairField, type PairForm, pairedPage, pairPage } from "../../people/pair-page.ts";
import { pairWrite } from "../../people/pairing.ts";
import { redeem, type SeatClaim } from "../../people/redeem.ts";
import { signInByCode } from "../../people/sign-in.ts";
import type { Tenant } from "../../tenant/tenant.ts";
import { tenantAs } from "../../tenant/tenant-as.ts";
import { prefersJson } from "./accept.ts";
import { redeemerOf } from "./author.ts";
import { type Limit, RateLimited } from "./limits.ts";
import { pageAnswer, type RawOperation, rawOperation } from "./raw-operation.ts";
import type { AppContext, RawRoute } from "./raw-route.ts";
import { decodeText, readBytes } from "./read-request.ts";
import { mustBeOwnPost } from "./same-site.ts";
import { sendPage } from "./send-page.ts";
import { sessionCookie } from "./session-cookie.ts";

interface PairPages {
  tenant: Tenant;
  /** The tries of pairing, by address: the same as those of `POST /v1/pair`. */
  limit: Limit;
  address(c: AppContext): string;
  /** Whether TLS ends here. */
  tls: boolean;
  /** Whether there are pages to be signed in to: a key is made only where it is asked for then. */
  console: boolean;
}

const PATH = "/pair";

/** Every field at its longest fits, percent-encoded. */
const FORM_BYTES = 16 * 1024;

/** The page that a pairing link leads to. It redeems by the verb of `POST /v1/pair` (contract §3); the GET consumes nothing. */
export function pairPageRoutes(pages: PairPages): RawRoute[] {
  return [
    {
      method: "GET",
      path: PATH,
      handle(c) {
        mustWantPage(c);
        const [code] = c.req.queries("code") ?? [];
        return code === undefined
          ? sendPage(pairPage(emptyForm(pages)), pages.tls)
          : intoFragment(code);
      },
    },
    {
      method: "POST",
      path: PATH,
      async handle(c) {
        mustWantPage(c);
        const answer = await tried(c, pages);
        return answer instanceof Response ? answer : sendPage(answer, pages.tls);
      },
    },
  ];
}

/** Programs have `/v1/pair`. */
function mustWantPage(c: AppContext): void {
  if (prefersJson(c.req.header("accept")))
    throw new ServiceError("not_found", "This is a page for people; programs use POST /v1/pair.");
}

const CODE = /^[0-9a-f]{48}$/;

/** A code in the query stands in logs of proxies and in histories: it goes where a link has it. */
function intoFragment(code: string): Response {
  const location = CODE.test(code) ? `pair#code=${code}` : "pair";
  const headers = { location, "cache-control": "no-store", "referrer-policy": "no-referrer" };
  return new Response(null, { status: 303, headers });
}

const emptyForm = ({ console }: PairPages): PairForm => ({
  code: "",
  email: "",
  displayName: "",
  wantsKey: console ? false : null,
});

async function tried(c: AppContext, pages: PairPages): Promise<PageAnswer | Response> {
  const { tenant, limit, address } = pages;
  const form = new URLSearchParams(decodeText(await readBytes(c.req.raw, FORM_BYTES)));
  const shown = formOf(form, pages.console);
  const claim = pairWrite.safeParse(claimOf(form, shown));
  try {
    c.set("rateHeaders", limit.spend(address(c)));
    if (form.has("look")) return looked(c, tenant, shown);
    if (!claim.success) {
      c.set("refusedAs", "invalid_request");
      const fields = [...new Set(claim.error.issues.map(({ path }) => path[0] as PairField))];
      return pairPage(shown, { kind: "invalid", fields });
    }
    const { code, password, email = null, display_name: displayName = null } = claim.data;
    const seat = { code, password, email, displayName };
    if (isBrowsersOwn(c, pages)) return await signedIn(c, pages, { seat, shown });
    const {
      store,
      id: tenantId,
      passwords,
    } = tenantAs(tenant, redeemerOf("pairOnPage", address(c)));
    const paired = await redeem({ store, tenantId, passwords }, seat);
    return pairedPage(paired, baseOf(c, tenant), { signedIn: false });
  } catch (error) {
    return troubled(c, shown, error);
  }
}

/** Who invited to what; for every code that can't be redeemed the one refusal. Nothing is spent but a try. */
function looked(c: AppContext, { store, clock }: Tenant, shown: PairForm): PageAnswer {
  const invited = lookAtCode(store, shown.code, unixSeconds(clock));
  if (invited !== null) return pairPage(shown, null, invited);
  c.set("refusedAs", "pairing_refused");
  return pairPage(shown, { kind: "refused" });
}

/** Whether a browser sent the form from this box's page, and may be signed in by it. Throws 403 for another's page. */
function isBrowsersOwn(c: AppContext, { tenant, console }: PairPages): boolean {
  const headers = { site: c.req.header("sec-fetch-site"), origin: c.req.header("origin") };
  if (!console || (headers.site === undefined && headers.origin === undefined)) return false;
  mustBeOwnPost(headers, [new URL(c.req.url).origin, new URL(baseOf(c, tenant)).origin]);
  return true;
}

/** The seat is taken and the browser signed in: on to the first steps, or first to the key that was asked for. */
async function signedIn(
  c: AppContext,
  { tenant, address, tls }: PairPages,
  { seat, shown }: { seat: SeatClaim; shown: PairForm },
): Promise<PageAnswer | Response> {
  const { cookie, granted } = await signInByCode(tenant, seat, {
    mintsKey: shown.wantsKey === true,
    address: address(c),
    agent: c.req.header("user-agent") ?? "",
  });
  const base = baseOf(c, tenant);
  const isPublic = new URL(base).host === new URL(c.req.url).host;
  const secure = tls || (isPublic && base.startsWith("https:"));
  const headers = { "Set-Cookie": sessionCookie(cookie, secure) };
  if (granted === null) {
    const location = `${new URL(base).pathname.replace(/\/$/, "")}/welcome`;
    return new Response(null, {
      status: 303,
      headers: { ...headers, location, "cache-control": "no-store" },
    });
  }
  const page = pairedPage(granted, base, { signedIn: true });
  return { ...page, headers: { ...page.headers, ...headers } };
}

function troubled(c: AppContext, shown: PairForm, error: unknown): PageAnswer {
  if (!(error instanceof ServiceError)) throw error;
  c.set("refusedAs", error.code);
  if (error.code === "pairing_refused") return pairPage(shown, { kind: "refused" });
  if (error.status !== 429) throw error;
  if (error instanceof RateLimited) c.set("rateHeaders", error.headers);
  return pairPage(shown, { kind: "wait", seconds: error.retryAfter ?? 1 });
}

/** A whole link may stand in the field for the code. */
function formOf(form: URLSearchParams, console: boolean): PairForm {
  const text = (name: string) => (form.get(name) ?? "").trim();
  const given = text("code");
  const code = /(?:^|[#?&]code=)([0-9a-f]{48})$/i.exec(given)?.[1]?.toLowerCase();
  const wantsKey = console ? form.get("wants_key") === "yes" : null;
  const [email, displayName] = [text("email"), text("display_name")];
  return { code: code ?? given, email, displayName, wantsKey };
}

/** As `POST /v1/pair` takes it: what was left empty is left out. */
function claimOf(form: URLSearchParams, { code, email, displayName }: PairForm): object {
  return {
    code,
    password: form.get("password") ?? "",
    ...(email === "" ? {} : { email }),
    ...(displayName === "" ? {} : { display_name: displayName }),
  };
}

function baseOf(c: AppContext, { publicUrl }: Tenant): string {
  return publicUrl === "" ? new URL(c.req.url).origin : publicUrl;
}

const form = {
  type: "object",
  required: ["code", "password"],
  properties: Object.fromEntries(
    ["code", "email", "display_name", "password", "wants_key", "look"].map((name) => [
      name,
      { type: "string" },
    ]),
  ),
};

/** The page as the OpenAPI document shows it. */
export const pairOperations: readonly RawOperation[] = [
  rawOperation("GET", PATH, {
    tag: "Pairing",
    name: "showPairPage",
    summary: "The page behind a pairing link; consumes nothing",
    answers: {
      200: pageAnswer("OK"),
      303: "A code in the query goes behind the #",
      404: "JSON was asked for: programs use POST /v1/pair",
    },
  }),
  rawOperation("POST", PATH, {
    tag: "Pairing",
    name: "pairOnPage",
    summary:
      "Redeem a pairing code as POST /v1/pair does, in a browser, which is then signed in. `wants_key=yes` also makes an API key and shows it once. `look` only shows the invitation and redeems nothing",
    form,
    answers: {
      200: pageAnswer("Paired: the key, the receipt, and what to do next"),
      303: "Paired and signed in, without a key: on to the pages",
      400: "A field that can't be right: the form again",
      401: "Not accepted: the form again, with one sentence for all failures",
      403: "The form came from another site",
      404: "JSON was asked for: programs use POST /v1/pair",
      413: "A form over 16 KiB",
      429: "Too many tries; Retry-After says how long to wait",
    },
  }),
];
