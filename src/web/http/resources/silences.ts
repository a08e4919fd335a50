import * as z from "zod";
import {
  liftSilence,
  makeSilence,
  previewSilence,
  rewriteSilence,
  silencePreview,
} from "../../../core/alerts/silencing.ts";
import { silencesSince } from "../../../core/quiet/rows.ts";
import {
  type SilenceRow,
  silenceAnswer,
  silenceChange,
  silenceState,
  silenceWrite,
} from "../../../core/quiet/silence.ts";
import { getSilence, silenceOf, toSilence } from "../../../core/quiet/silences.ts";
import { unixSeconds } from "../../../ground/kit/clock.ts";
import { othersFirst } from "../../../ground/kit/slices.ts";
import type { Reader } from "../../../ground/store/store.ts";
import type { Route } from "../route.ts";
import { inTenant, routesIn } from "../scope.ts";

const silences = routesIn(inTenant, { at: "/silences", tag: "Silences", additive: true });

/** Silences that are over are listed for so long. */
const PAST_SECONDS = 30 * 86_400;
const MOST_LISTED = 2000;

const shown = (reader: Reader, row: SilenceRow) =>
  toSilence(reader, row, unixSeconds(reader.clock));

/** Quiet on purpose (contract §29). */
export const silenceRoutes: Route[] = [
  silences.get("", {
    name: "listSilences",
    summary: "Silences, the newest first: those that aren't over, and those of the past 30 days",
    query: z.strictObject({
      state: silenceState.optional().describe("Only silences in this state. Default: all."),
    }),
    answer: z.object({ silences: z.array(silenceAnswer) }),
    read: (store, { query: { state } }) => {
      const since = unixSeconds(store.clock) - PAST_SECONDS;
      const rows = silencesSince(store, { since, most: MOST_LISTED });
      const silences = rows.map((row) => shown(store, row));
      return { silences: silences.filter((one) => state === undefined || one.state === state) };
    },
  }),
  silences.post("", {
    name: "createSilence",
    summary:
      "Silence alerts from now or later, once or repeatedly; when it ends, what is still open is sent",
    body: silenceWrite,
    reads: silenceAnswer,
    status: 201,
    answer: silenceAnswer,
    errors: ["not_found", "invalid_silence", "invalid_timezone", "too_many"],
    write: (tx, { body: write, actor: { accountId: createdBy } }) =>
      shown(tx, makeSilence(tx, { write, createdBy })),
  }),
  silences.post("/preview", {
    name: "previewSilence",
    summary:
      "Which open alerts a silence would match, and what it would have held back in the past seven days",
    body: silenceWrite,
    reads: silenceAnswer,
    answer: silencePreview,
    errors: ["not_found", "invalid_silence", "invalid_timezone"],
    handle: ({ tenant: { store }, body, actor: { accountId } }) => {
      const at = unixSeconds(store.clock);
      const row = silenceOf(store, { write: body, createdBy: accountId, at });
      return previewSilence(store, [row], { at, pause: othersFirst });
    },
  }),
  silences.get("/{silence}", {
    name: "getSilence",
    summary: "One silence",
    answer: silenceAnswer,
    read: (store, { params }) => shown(store, getSilence(store, params.silence)),
  }),
  silences.patch("/{silence}", {
    name: "changeSilence",
    summary: "Change when a silence ends, or its reason",
    body: silenceChange,
    answer: silenceAnswer,
    errors: ["invalid_silence"],
    write: (tx, { params, body }) => shown(tx, rewriteSilence(tx, params.silence, body)),
  }),
  silences.delete("/{silence}", {
    name: "deleteSilence",
    summary:
      "End a silence, so that what it held back and is still open is sent now; one that hasn't begun is deleted",
    write: (tx, { params }) => liftSilence(tx, params.silence),
  }),
];
