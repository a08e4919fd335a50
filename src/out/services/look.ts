import type { Egress } from "../../ground/kit/egress.ts";
import type { Sent } from "../outbox/destination.ts";
import { verdictOf } from "../outbox/senders/sent.ts";

/** One question to a service that changes nothing and shows whether the settings work. */
export async function lookAt(
  via: { egress: Egress; now: number },
  {
    url,
    headers = {},
    isYes = () => true,
  }: {
    url: string;
    headers?: Record<string, string>;
    /** Whether an answer that looks well says so, too; gets its JSON, empty where it is none. */
    isYes?: (answer: Record<string, unknown>) => boolean;
  },
): Promise<Sent> {
  const result = await via.egress.send({ method: "GET", url, headers, maxBytes: 65_536 });
  const verdict = verdictOf(result, via.now);
  if (verdict.kind !== "delivered" || isYes(objectOf(result.body))) return { verdict };
  return { verdict: { kind: "later", error: "the service says no" } };
}

function objectOf(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** `base` without a slash at its end, and the path. */
export function under(base: string, path: string): string {
  return `${base.replace(/\/+$/, "")}${path}`;
}
