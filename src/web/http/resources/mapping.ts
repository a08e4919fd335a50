import type { z } from "zod";
import { mappingTried, mappingTry, receivedBodies } from "../../../core/projects/mapping.ts";
import type { Source } from "../../../core/projects/sources.ts";
import { unixSeconds } from "../../../ground/kit/clock.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import { uuid4 } from "../../../ground/kit/ids.ts";
import { UnreadableBody } from "../../../in/adapters/adapter.ts";
import { hook } from "../../../in/adapters/hook.ts";
import { mustBeUsable } from "../../../in/adapters/mapping/chosen.ts";
import { statusOf } from "../../../in/adapters/replies.ts";
import type { IngestEvent } from "../../../in/ingest/event.ts";
import type { Tenant } from "../../../tenant/tenant.ts";
import type { Route } from "../route.ts";
import { ofSource, routesIn } from "../scope.ts";

const mapping = routesIn(ofSource, { at: "/mapping", tag: "Sources", additive: true });

/** Runs the mapping on a request that is not taken. Throws 400 for a body that nothing can read. */
function tried(
  { clock, store, ingest }: Tenant,
  given: z.output<typeof mappingTry>,
  { options, projectId }: Pick<Source, "options" | "projectId">,
): z.output<typeof mappingTried> {
  const headers = Object.entries(given.headers ?? {}).map(([name, text]) => [
    name.toLowerCase(),
    text,
  ]);
  const known = new Map([["content-type", given.content_type ?? ""], ...(headers as [])]);
  const { body } = given;
  try {
    const { events, rejected } = hook.decode({
      method: "POST",
      path: "",
      query: new URLSearchParams(given.query ?? {}),
      options,
      header: (name) => known.get(name),
      body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body ?? null)),
      at: unixSeconds(clock),
      watched: () => ingest.watched(projectId),
      unique: () => uuid4(store.random),
    });
    return { events: events.map(shown), rejected: rejected.map(({ reason }) => reason) };
  } catch (error) {
    if (!(error instanceof UnreadableBody)) throw error;
    throw new ServiceError("invalid_request", statusOf(error.refusal).message);
  }
}

function shown({ message, title, level, keys, tags, named, extra }: IngestEvent) {
  return {
    message,
    title: title ?? null,
    level,
    action: named?.action ?? "fire",
    dedup_key: named?.dedupKey ?? null,
    instance: named?.instance ?? null,
    occurred_at: extra?.occurredAt ?? null,
    details: extra?.details ?? null,
    keys: { ...keys },
    tags: [...(tags ?? [])],
    links: [...(extra?.links ?? [])],
    images: (extra?.images ?? []).map(({ src }) => src),
  };
}

/** contract §24. */
export const mappingRoutes: Route[] = [
  mapping.post("/try", {
    name: "tryMapping",
    summary: "The events that a mapping makes of a body; nothing is stored",
    body: mappingTry,
    bodyLimit: 512 * 1024,
    answer: mappingTried,
    errors: ["invalid_mapping"],
    handle: ({ tenant, source, body }) => {
      const { mapping = source.options.mapping } = body;
      const options = mapping === undefined ? {} : { mapping };
      mustBeUsable(source.kind, options);
      return tried(tenant, body, { options, projectId: source.projectId });
    },
  }),
  mapping.get("/received", {
    name: "listReceivedBodies",
    summary: "The latest bodies that a webhook's source received, to try a mapping on",
    manager: true,
    answer: receivedBodies,
    handle: ({ tenant, source }) => ({
      received: tenant.ingest.received
        .of(source.id)
        .map(({ at, contentType, body }) => ({ at, content_type: contentType, body })),
    }),
  }),
];
