import * as z from "zod";
import { queryLimit } from "../../../ground/kit/query-fields.ts";
import {
  heartbeatAddress,
  heartbeatAnswer,
  heartbeatChange,
  heartbeatCreate,
  heartbeatRun,
} from "../../../in/heartbeats/heartbeat.ts";
import {
  type Addresses,
  changeHeartbeat,
  createHeartbeat,
  getHeartbeat,
  rotateHeartbeat,
} from "../../../in/heartbeats/heartbeats.ts";
import { type HeartbeatRow, projectHeartbeats } from "../../../in/heartbeats/rows.ts";
import { listRuns } from "../../../in/heartbeats/runs.ts";
import { dropHeartbeat, readHeartbeat, watchHeartbeat } from "../../../tenant/heartbeat-verbs.ts";
import type { Tenant } from "../../../tenant/tenant.ts";
import { PING } from "../ping.ts";
import type { Route } from "../route.ts";
import { inProject, routesIn } from "../scope.ts";

const heartbeats = routesIn(inProject, { at: "/heartbeats", tag: "Heartbeats", additive: true });

function withAddress(
  tenant: Tenant,
  { row, addresses }: { row: HeartbeatRow; addresses: Addresses },
) {
  const ping_url = `${tenant.publicUrl}${PING}/${addresses.secret}`;
  return { ...readHeartbeat(tenant, row), ping_url, uuid: addresses.uuid };
}

/** Jobs that must report (contract §25). */
export const heartbeatRoutes: Route[] = [
  heartbeats.get("", {
    name: "listHeartbeats",
    summary: "The project's heartbeats, by name",
    answer: z.object({ heartbeats: z.array(heartbeatAnswer) }),
    handle: ({ tenant, project }) => {
      const rows = projectHeartbeats(tenant.store, project.id);
      return { heartbeats: rows.map((row) => readHeartbeat(tenant, row)) };
    },
  }),
  heartbeats.post("", {
    name: "createHeartbeat",
    summary: "Create a heartbeat and its address",
    body: heartbeatCreate,
    reads: heartbeatAddress,
    status: 201,
    answer: heartbeatAddress,
    errors: ["name_taken", "invalid_timezone", "too_many"],
    handle: ({ tenant, body, project }) =>
      withAddress(
        tenant,
        tenant.store.write((tx) => createHeartbeat(tx, project, { tenantId: tenant.id, body })),
      ),
  }),
  heartbeats.get("/{hid}", {
    name: "getHeartbeat",
    summary: "One heartbeat",
    answer: heartbeatAnswer,
    handle: ({ tenant, params, project }) =>
      readHeartbeat(tenant, getHeartbeat(tenant.store, project, params.hid)),
  }),
  heartbeats.patch("/{hid}", {
    name: "changeHeartbeat",
    summary: "Change a heartbeat; what is left out stays",
    body: heartbeatChange,
    reads: heartbeatAddress,
    answer: heartbeatAnswer,
    errors: ["name_taken", "invalid_timezone"],
    handle: ({ tenant, params, body, project }) =>
      readHeartbeat(
        tenant,
        tenant.store.write((tx) => changeHeartbeat(tx, project, { id: params.hid, body })),
      ),
  }),
  heartbeats.delete("/{hid}", {
    name: "deleteHeartbeat",
    summary: "Delete a heartbeat; its alert is resolved",
    errors: ["overloaded", "storage_full"],
    handle: ({ tenant, params, project }) => dropHeartbeat(tenant, project, params.hid),
  }),
  heartbeats.get("/{hid}/runs", {
    name: "listHeartbeatRuns",
    summary: "A heartbeat's latest runs, newest first; the last 100 are kept",
    query: z.strictObject({ limit: queryLimit(100, 30) }),
    answer: z.object({ runs: z.array(heartbeatRun) }),
    read: (store, { params, query, project }) => {
      const row = getHeartbeat(store, project, params.hid);
      return { runs: listRuns(store, row.id, query.limit) };
    },
  }),
  ...(["pause", "resume"] as const).map((verb) =>
    heartbeats.post(`/{hid}/${verb}`, {
      name: `${verb}Heartbeat`,
      summary:
        verb === "pause"
          ? "Pause a heartbeat; its alert is resolved"
          : "Resume a heartbeat, from now on",
      answer: heartbeatAnswer,
      handle: async ({ tenant, params, project }) => {
        const { id } = getHeartbeat(tenant.store, project, params.hid);
        await watchHeartbeat(tenant, id, verb === "resume");
        return readHeartbeat(tenant, getHeartbeat(tenant.store, project, id));
      },
    }),
  ),
  heartbeats.post("/{hid}/rotate", {
    name: "rotateHeartbeat",
    summary: "Replace a heartbeat's addresses",
    manager: true,
    answer: heartbeatAddress,
    handle: ({ tenant, params, project }) =>
      withAddress(
        tenant,
        tenant.store.write((tx) => rotateHeartbeat(tx, project, params.hid)),
      ),
  }),
];
