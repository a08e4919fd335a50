import * as z from "zod";
import { check } from "../../ground/kit/check.ts";
import { ServiceError } from "../../ground/kit/errors.ts";
import { hearShown } from "../../tenant/push-verbs.ts";
import type { Tenant } from "../../tenant/tenant.ts";
import type { Limit } from "./limits.ts";
import { rawOperation } from "./raw-operation.ts";
import type { AppContext, RawRoute } from "./raw-route.ts";
import { decodeText, readBody, readBytes } from "./read-request.ts";

interface PushSeen {
  /** Whose receipt it may be; null for what is surely nobody's: nothing is opened for it. */
  find(receipt: string): Promise<Tenant | null> | Tenant | null;
  /** Receipts that nobody was given, by address. */
  tries: Limit;
  address(c: AppContext): string;
  /** Who sent this request has shown who they are. */
  known(c: AppContext): void;
}

const PATH = "/push/seen";
const BODY_BYTES = 4096;
const seen = z.strictObject({ receipt: z.string().max(200) });

/** Where a device says that it showed a message (contract §27): the receipt that came with it is all that it needs. */
export function pushSeenRoute(serving: PushSeen): RawRoute {
  return { method: "POST", path: PATH, handle: (c) => heard(c, serving) };
}

async function heard(c: AppContext, serving: PushSeen): Promise<Response> {
  const body = readBody(decodeText(await readBytes(c.req.raw, BODY_BYTES)));
  const { receipt } = check(seen, body, "body");
  const tenant = await serving.find(receipt);
  if (tenant === null || !hearShown(tenant, receipt)) {
    c.set("rateHeaders", serving.tries.spend(`${serving.address(c)} receipt`));
    throw new ServiceError("not_found", "There is no such receipt.");
  }
  serving.known(c);
  c.set("tenant", tenant);
  return new Response(null, { status: 204, headers: { "cache-control": "no-store" } });
}

/** As the OpenAPI document shows it. */
export const pushSeenOperation = rawOperation("POST", PATH, {
  tag: "Push",
  name: "receiptOfPush",
  summary: "A device says that it showed a message; to say it again changes nothing",
  json: {
    type: "object",
    required: ["receipt"],
    properties: { receipt: { type: "string", description: "As the message had it" } },
  },
  answers: {
    204: "Noted",
    400: "No receipt",
    404: "A receipt that never was one, or whose day is over",
    413: "A body over 4 KiB",
    429: "Too many such receipts; Retry-After says how long to wait",
  },
});
