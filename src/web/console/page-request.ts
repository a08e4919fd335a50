import { unixSeconds } from "../../ground/kit/clock.ts";
import { ServiceError } from "../../ground/kit/errors.ts";
import type { Tenant } from "../../tenant/tenant.ts";
import type { AppContext } from "../http/raw-route.ts";
import { decodeText, readBytes } from "../http/read-request.ts";
import { readCookies } from "./cookies.ts";
import { lookOf } from "./display.ts";

/** One request, as everything that answers it looks at it. */
export type PageRequest = ReturnType<typeof askingOf>;

/** Where the box stands, as the browser that asks sees it. */
export interface Site {
  /** What stands before every address: "", or "/box" behind a proxy. */
  base: string;
  /** With the base. */
  origin: string;
  /** Whether it is https. */
  secure: boolean;
}

export function askingOf(c: AppContext, tenant: Tenant, tls: boolean) {
  const url = new URL(c.req.url);
  const cookies = readCookies(c.req.header("cookie"));
  return {
    c,
    url,
    cookies,
    look: lookOf(cookies),
    /** HEAD is asked as GET. */
    method: c.req.method === "HEAD" ? "GET" : c.req.method,
    place: placeOf(c, url, { publicUrl: tenant.publicUrl, tls }),
    asked: {
      ifNoneMatch: c.req.header("if-none-match"),
      acceptEncoding: c.req.header("accept-encoding"),
      tls,
    },
    /** Unix seconds. */
    now: unixSeconds(tenant.clock),
  };
}

/** What a proxy says of whom it speaks for. */
export const FORWARDED = ["x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "forwarded"];

/** Who comes by a proxy, or by the public name, has the public address; others have the one that they asked for. */
function placeOf(
  c: AppContext,
  url: URL,
  { publicUrl, tls }: { publicUrl: string; tls: boolean },
): Site {
  const direct = { base: "", origin: url.origin, secure: tls };
  if (publicUrl === "") return direct;
  const open = new URL(publicUrl);
  const isPublic = url.host === open.host || FORWARDED.some((name) => c.req.header(name));
  if (!isPublic) return direct;
  const base = open.pathname.replace(/\/$/, "");
  return { base, origin: open.origin + base, secure: tls || open.protocol === "https:" };
}

/** Every field of the longest form fits, percent-encoded. */
const FORM_BYTES = 1024 * 1024;

/** What a form sent. Throws 400 for anything else, 413 for too much. */
export async function readForm(c: AppContext): Promise<URLSearchParams> {
  const type = c.req.header("content-type") ?? "";
  if (!type.startsWith("application/x-www-form-urlencoded"))
    throw new ServiceError("invalid_request", "A form comes as application/x-www-form-urlencoded.");
  return new URLSearchParams(decodeText(await readBytes(c.req.raw, FORM_BYTES)));
}
