import { z } from "zod";
import { mappingTried, mappingTry, receivedBodies } from "../../../core/projects/mapping.ts";
import { getProject } from "../../../core/projects/projects.ts";
import { getSource, type Source } from "../../../core/projects/sources.ts";
import { unixSeconds } from "../../../ground/kit/clock.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import { uuid4 } from "../../../ground/kit/ids.ts";
import { UnreadableBody } from "../../../in/adapters/adapter.ts";
import { hook } from "../../../in/adapters/hook.ts";
import { mustBeUsable } from "../../../in/adapters/mapping/chosen.ts";
import { statusOf } from "../../../in/adapters/replies.ts";
import type { IngestEvent } from "../../../in/ingest/event.ts";
import type { Tenant } from "../../../tenant/tenant.ts";
import { type Route, route } from "../route.ts";

const sourcePath = z.strictObject({ id: z.string(), name: z.string() });

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

function shown({ message, level, keys, tags, named, extra }: IngestEvent) {
  return {
    message,
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
  route({
    method: "POST",
    path: "/v1/projects/{id}/sources/{name}/mapping/try",
    name: "tryMapping",
    tag: "Sources",
    summary: "The events that a mapping makes of a body; nothing is taken",
    plane: "api",
    additive: true,
    params: sourcePath,
    body: mappingTry,
    bodyLimit: 512 * 1024,
    status: 200,
    answer: mappingTried,
    errors: ["invalid_request", "invalid_json", "not_found", "invalid_mapping"],
    handle: ({ tenant, params, body }) => {
      const source = getSource(tenant.store, getProject(tenant.store, params.id), params.name);
      const { mapping = source.options.mapping } = body;
      const options = mapping === undefined ? {} : { mapping };
      mustBeUsable(source.kind, options);
      return tried(tenant, body, { options, projectId: source.projectId });
    },
  }),
  route({
    method: "GET",
    path: "/v1/projects/{id}/sources/{name}/mapping/received",
    name: "listReceivedBodies",
    tag: "Sources",
    summary: "The latest bodies that a webhook's source received, to try a mapping on",
    plane: "api",
    additive: true,
    manager: true,
    params: sourcePath,
    status: 200,
    answer: receivedBodies,
    errors: ["forbidden", "not_found"],
    handle: ({ tenant, params }) => {
      const { id } = getSource(tenant.store, getProject(tenant.store, params.id), params.name);
      return {
        received: tenant.ingest.received
          .of(id)
          .map(({ at, contentType, body }) => ({ at, content_type: contentType, body })),
      };
    },
  }),
];
