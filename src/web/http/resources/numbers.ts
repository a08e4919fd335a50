import { getProject } from "../../../core/projects/projects.ts";
import { unixSeconds } from "../../../ground/kit/clock.ts";
import { numbersCsv } from "../../../records/numbers/csv.ts";
import {
  digestAnswer,
  digestSent,
  digestWrite,
  readDigest,
  writeDigest,
} from "../../../records/numbers/digest.ts";
import { numbersOf } from "../../../records/numbers/numbers.ts";
import {
  changeSettings,
  readSettings,
  settingsAnswer,
  settingsChange,
} from "../../../records/numbers/settings.ts";
import { numbersAnswer, numbersQuery } from "../../../records/numbers/shape.ts";
import type { Route } from "../route.ts";
import { inTenant, routesIn } from "../scope.ts";
import { asking } from "./oncall.ts";

const numbers = routesIn(inTenant, { tag: "Operating", additive: true });

/** What happened, by day and by whom; and the tenant's settings. */
export const numbersRoutes: Route[] = [
  numbers.get("/numbers", {
    name: "getNumbers",
    summary:
      "Figures of whole days, at most 800 (default: eight weeks); `Accept: text/csv` for a table. By person: a member's own, unless `numbers_open`",
    wantsHeaders: ["accept"],
    query: numbersQuery,
    answer: numbersAnswer,
    errors: ["not_found"],
    handle: async ({ tenant, actor, query, headers }) => {
      const project = query.project === undefined ? null : getProject(tenant.store, query.project);
      const answer = await numbersOf(
        asking(tenant),
        { ...query, project },
        { now: unixSeconds(tenant.clock), viewer: actor.accountId },
      );
      if (!wantsCsv(headers["accept"])) return answer;
      return new Response(numbersCsv(answer), {
        headers: {
          "content-type": "text/csv; charset=utf-8; header=present",
          "content-disposition": `attachment; filename="numbers-by-${query.by}.csv"`,
          "cache-control": "no-store",
          "x-content-type-options": "nosniff",
        },
      });
    },
  }),
  numbers.get("/settings", {
    name: "getSettings",
    summary: "The tenant's settings",
    answer: settingsAnswer,
    read: (store) => readSettings(store),
  }),
  numbers.patch("/settings", {
    name: "changeSettings",
    summary: "Change settings of the tenant; what is left out stays",
    manager: true,
    owner: true,
    body: settingsChange,
    answer: settingsAnswer,
    write: (tx, { body }) => changeSettings(tx, body),
  }),
  numbers.get("/digest", {
    name: "getDigest",
    summary: "Where the weekly digest is sent, and when",
    answer: digestAnswer,
    handle: ({ tenant }) => readDigest(tenant.store, unixSeconds(tenant.clock)),
  }),
  numbers.put("/digest", {
    name: "changeDigest",
    summary:
      "Set where and when the weekly digest is sent, or turn it off: figures against the four weeks before, the noisiest rules, advice, next week's shifts and gaps",
    manager: true,
    body: digestWrite,
    reads: digestAnswer,
    answer: digestAnswer,
    write: (tx, { body }) => writeDigest(tx, body),
  }),
  numbers.post("/digest/send", {
    name: "sendDigest",
    summary: "Send the digest of the last whole week now; the next regular one is still sent",
    manager: true,
    answer: digestSent,
    auditAlways: true,
    errors: ["digest_off"],
    handle: ({ tenant }) => tenant.sendDigest(),
  }),
];

/** JSON unless a table is asked for by name. */
const wantsCsv = (accept: string | undefined): boolean =>
  /(^|,)\s*text\/csv\s*(;|,|$)/i.test((accept ?? "").slice(0, 1024));
