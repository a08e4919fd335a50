import { ServiceError } from "../kit/errors.ts";
import type { PageAnswer } from "../page/answer.ts";
import { type PairField, type PairForm, pairedPage, pairPage } from "../people/pair-page.ts";
import { pairWrite } from "../people/pairing.ts";
import { redeem } from "../people/redeem.ts";
import type { Tenant } from "../tenant/tenant.ts";
import { tenantAs } from "../tenant/tenant-as.ts";
import { prefersJson } from "./accept.ts";
import { redeemerOf } from "./author.ts";
import { decodeText, readBytes } from "./check.ts";
import { type Limit, RateLimited } from "./limits.ts";
import type { RawOperation } from "./openapi.ts";
import type { AppContext, RawRoute } from "./raw-route.ts";
import { sendPage } from "./send-page.ts";

export interface PairPages {
  tenant: Tenant;
  /** The tries of pairing, by address: the same as those of `POST /v1/pair`. */
  limit: Limit;
  address(c: AppContext): string;
  /** Whether TLS ends here. */
  tls: boolean;
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
        return code === undefined ? sendPage(pairPage(), pages.tls) : intoFragment(code);
      },
    },
    {
      method: "POST",
      path: PATH,
      async handle(c) {
        mustWantPage(c);
        return sendPage(await tried(c, pages), pages.tls);
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

async function tried(c: AppContext, { tenant, limit, address }: PairPages): Promise<PageAnswer> {
  const form = new URLSearchParams(decodeText(await readBytes(c.req.raw, FORM_BYTES)));
  const shown = formOf(form);
  const claim = pairWrite.safeParse(claimOf(form, shown));
  try {
    c.set("rateHeaders", limit.spend(address(c)));
    if (!claim.success) {
      c.set("refusedAs", "invalid_request");
      const fields = [...new Set(claim.error.issues.map(({ path }) => path[0] as PairField))];
      return pairPage(shown, { kind: "invalid", fields });
    }
    const { code, password, email = null, display_name: displayName = null } = claim.data;
    const {
      store,
      id: tenantId,
      passwords,
    } = tenantAs(tenant, redeemerOf("pairOnPage", address(c)));
    const paired = await redeem(
      { store, tenantId, passwords },
      { code, password, email, displayName },
    );
    return pairedPage(paired, baseOf(c, tenant));
  } catch (error) {
    return troubled(c, shown, error);
  }
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
function formOf(form: URLSearchParams): PairForm {
  const text = (name: string) => (form.get(name) ?? "").trim();
  const given = text("code");
  const code = /(?:^|[#?&]code=)([0-9a-f]{48})$/i.exec(given)?.[1]?.toLowerCase();
  return { code: code ?? given, email: text("email"), displayName: text("display_name") };
}

/** As `POST /v1/pair` takes it: what was left empty is left out. */
function claimOf(form: URLSearchParams, { code, email, displayName }: PairForm): object {
  return {
    ...{ code, password: form.get("password") ?? "" },
    ...(email === "" ? {} : { email }),
    ...(displayName === "" ? {} : { display_name: displayName }),
  };
}

function baseOf(c: AppContext, { publicUrl }: Tenant): string {
  return publicUrl === "" ? new URL(c.req.url).origin : publicUrl;
}

const page = { "text/html": { schema: { type: "string" } } };
const form = {
  type: "object",
  required: ["code", "password"],
  properties: Object.fromEntries(
    ["code", "email", "display_name", "password"].map((name) => [name, { type: "string" }]),
  ),
};

const common = { tags: ["Pairing"], security: [], "x-additive": true };

/** The page as the OpenAPI document shows it. */
export const pairOperations: readonly RawOperation[] = [
  {
    ...{ method: "GET", path: PATH },
    operation: {
      ...{ ...common, operationId: "showPairPage" },
      summary: "The page that a pairing link leads to; consumes nothing",
      responses: {
        "200": { description: "OK", content: page },
        "303": { description: "A code in the query goes behind the #" },
        "404": { description: "JSON was asked for: programs use POST /v1/pair" },
      },
    },
  },
  {
    ...{ method: "POST", path: PATH },
    operation: {
      ...{ ...common, operationId: "pairOnPage" },
      summary: "Redeem a pairing code as POST /v1/pair does; the page shows the API key this once",
      requestBody: {
        required: true,
        content: { "application/x-www-form-urlencoded": { schema: form } },
      },
      responses: {
        "200": { description: "Paired: the key, the receipt, and what to do next", content: page },
        "400": { description: "A field that can't be right: the form again" },
        "401": { description: "Not accepted: the form again, with one sentence for all failures" },
        "404": { description: "JSON was asked for: programs use POST /v1/pair" },
        "413": { description: "A form over 16 KiB" },
        "429": { description: "Too many tries; Retry-After says how long to wait" },
      },
    },
  },
];
