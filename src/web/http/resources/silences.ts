import { z } from "zod";
import {
  liftSilence,
  makeSilence,
  previewSilence,
  rewriteSilence,
  silencePreview,
} from "../../../core/alerts/silencing.ts";
import { silencesSince } from "../../../core/quiet/rows.ts";
import type { SilenceRow } from "../../../core/quiet/silence.ts";
import {
  silenceAnswer,
  silenceChange,
  silenceReadOnly,
  silenceState,
  silenceWrite,
} from "../../../core/quiet/silence.ts";
import { getSilence, silenceOf, toSilence } from "../../../core/quiet/silences.ts";
import { unixSeconds } from "../../../ground/kit/clock.ts";
import type { Tenant } from "../../../tenant/tenant.ts";
import { deleted } from "../fields.ts";
import { type Route, route } from "../route.ts";

const silencePath = z.strictObject({ silence: z.string() });
const common = { tag: "Silences", plane: "api", additive: true } as const;
const writeErrors = [
  ...(["invalid_request", "invalid_json", "not_found", "invalid_silence"] as const),
];

/** Silences that are over are listed for so long. */
const PAST_SECONDS = 30 * 86_400;
const MOST_LISTED = 2000;

const shown = (tenant: Tenant, row: SilenceRow) =>
  toSilence(tenant.store, row, unixSeconds(tenant.clock));

/** Quiet on purpose (contract §29). */
export const silenceRoutes: Route[] = [
  route({
    ...common,
    method: "GET",
    path: "/v1/silences",
    name: "listSilences",
    summary: "Silences, the newest first: those that aren't over, and those of the past 30 days",
    query: z.strictObject({ state: silenceState.optional() }),
    status: 200,
    answer: z.object({ silences: z.array(silenceAnswer) }),
    errors: ["invalid_request"],
    handle: ({ tenant, query: { state } }) => {
      const since = unixSeconds(tenant.clock) - PAST_SECONDS;
      const rows = silencesSince(tenant.store, { since, most: MOST_LISTED });
      const silences = rows.map((row) => shown(tenant, row));
      return { silences: silences.filter((one) => state === undefined || one.state === state) };
    },
  }),
  route({
    ...common,
    method: "POST",
    path: "/v1/silences",
    name: "createSilence",
    summary: "Keep alerts quiet from now or later, once or again and again",
    body: silenceWrite,
    readOnly: silenceReadOnly,
    status: 201,
    answer: silenceAnswer,
    errors: [...writeErrors, "invalid_timezone", "too_many"],
    handle: ({ tenant, body, actor: { accountId } }) =>
      shown(
        tenant,
        tenant.store.write((tx) => makeSilence(tx, { write: body, createdBy: accountId })),
      ),
  }),
  route({
    ...common,
    method: "POST",
    path: "/v1/silences/preview",
    name: "previewSilence",
    summary:
      "Which open alerts a silence would take, and what it would have kept back for seven days",
    body: silenceWrite,
    readOnly: silenceReadOnly,
    status: 200,
    answer: silencePreview,
    errors: [...writeErrors, "invalid_timezone"],
    handle: ({ tenant: { store }, body, actor: { accountId } }) => {
      const at = unixSeconds(store.clock);
      const row = silenceOf(store, { write: body, createdBy: accountId, at });
      return previewSilence(store, row, { at, pause: nextTurn });
    },
  }),
  route({
    ...common,
    method: "GET",
    path: "/v1/silences/{silence}",
    name: "getSilence",
    summary: "One silence",
    params: silencePath,
    status: 200,
    answer: silenceAnswer,
    errors: ["not_found"],
    handle: ({ tenant, params }) => shown(tenant, getSilence(tenant.store, params.silence)),
  }),
  route({
    ...common,
    method: "PATCH",
    path: "/v1/silences/{silence}",
    name: "changeSilence",
    summary: "Change when a silence ends, or why it is",
    params: silencePath,
    body: silenceChange,
    status: 200,
    answer: silenceAnswer,
    errors: writeErrors,
    handle: ({ tenant, params, body }) =>
      shown(
        tenant,
        tenant.store.write((tx) => rewriteSilence(tx, params.silence, body)),
      ),
  }),
  route({
    ...common,
    method: "DELETE",
    path: "/v1/silences/{silence}",
    name: "deleteSilence",
    summary:
      "End a silence, so that what it held back is told now; one that hasn't begun is deleted",
    params: silencePath,
    status: 200,
    answer: deleted,
    errors: ["not_found"],
    handle: ({ tenant, params }) => {
      tenant.store.write((tx) => liftSilence(tx, params.silence));
      return { deleted: true };
    },
  }),
];

/** Lets events and pages through. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
