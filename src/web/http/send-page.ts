import type { PageAnswer } from "../../ground/page/answer.ts";

/** A month: the same host may serve others without TLS, and this binds all its ports. */
const HSTS = "max-age=2592000";

/** A page as it leaves; `tls`: whether TLS ends here. */
export function sendPage({ status, headers, body }: PageAnswer, tls: boolean): Response {
  return new Response(body, {
    status,
    headers: { ...headers, ...(tls ? { "Strict-Transport-Security": HSTS } : {}) },
  });
}
