import { z } from "zod";
import { getProject } from "../../../core/projects/projects.ts";
import {
  heartbeatAddress,
  heartbeatAnswer,
  heartbeatChange,
  heartbeatCreate,
  heartbeatReadOnly,
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
import { deleted, projectPath, queryInteger } from "../fields.ts";
import { PING } from "../ping.ts";
import { type Route, route } from "../route.ts";

const heartbeatPath = z.strictObject({ id: z.string(), hid: z.string() });

function withAddress(
  tenant: Tenant,
  { row, addresses }: { row: HeartbeatRow; addresses: Addresses },
) {
  const ping_url = `${tenant.publicUrl}${PING}/${addresses.secret}`;
  return { ...readHeartbeat(tenant, row), ping_url, uuid: addresses.uuid };
}

const writeErrors = [
  ...(["invalid_request", "invalid_json", "not_found", "name_taken"] as const),
  "invalid_timezone" as const,
];

const common = { tag: "Heartbeats", plane: "api", additive: true } as const;

/** Jobs that must report (contract §25). */
export const heartbeatRoutes: Route[] = [
  route({
    ...common,
    method: "GET",
    path: "/v1/projects/{id}/heartbeats",
    name: "listHeartbeats",
    summary: "The project's heartbeats, by name",
    params: projectPath,
    status: 200,
    answer: z.object({ heartbeats: z.array(heartbeatAnswer) }),
    errors: ["not_found"],
    handle: ({ tenant, params }) => {
      const { id } = getProject(tenant.store, params.id);
      return {
        heartbeats: projectHeartbeats(tenant.store, id).map((row) => readHeartbeat(tenant, row)),
      };
    },
  }),
  route({
    ...common,
    method: "POST",
    path: "/v1/projects/{id}/heartbeats",
    name: "createHeartbeat",
    summary: "Create a heartbeat and its address",
    params: projectPath,
    body: heartbeatCreate,
    readOnly: heartbeatReadOnly,
    status: 201,
    answer: heartbeatAddress,
    errors: [...writeErrors, "too_many"],
    handle: ({ tenant, params, body }) =>
      withAddress(
        tenant,
        tenant.store.write((tx) =>
          createHeartbeat(tx, getProject(tx, params.id), { tenantId: tenant.id, body }),
        ),
      ),
  }),
  route({
    ...common,
    method: "GET",
    path: "/v1/projects/{id}/heartbeats/{hid}",
    name: "getHeartbeat",
    summary: "One heartbeat",
    params: heartbeatPath,
    status: 200,
    answer: heartbeatAnswer,
    errors: ["not_found"],
    handle: ({ tenant, params }) =>
      readHeartbeat(
        tenant,
        getHeartbeat(tenant.store, getProject(tenant.store, params.id), params.hid),
      ),
  }),
  route({
    ...common,
    method: "PATCH",
    path: "/v1/projects/{id}/heartbeats/{hid}",
    name: "changeHeartbeat",
    summary: "Change what is given of a heartbeat",
    params: heartbeatPath,
    body: heartbeatChange,
    readOnly: [...heartbeatReadOnly, "uuid"],
    status: 200,
    answer: heartbeatAnswer,
    errors: writeErrors,
    handle: ({ tenant, params, body }) =>
      readHeartbeat(
        tenant,
        tenant.store.write((tx) =>
          changeHeartbeat(tx, getProject(tx, params.id), { id: params.hid, body }),
        ),
      ),
  }),
  route({
    ...common,
    method: "DELETE",
    path: "/v1/projects/{id}/heartbeats/{hid}",
    name: "deleteHeartbeat",
    summary: "Delete a heartbeat; an alert that it is missing ends",
    params: heartbeatPath,
    status: 200,
    answer: deleted,
    errors: ["not_found", "overloaded", "storage_full"],
    handle: async ({ tenant, params }) => {
      await dropHeartbeat(tenant, getProject(tenant.store, params.id), params.hid);
      return { deleted: true };
    },
  }),
  route({
    ...common,
    method: "GET",
    path: "/v1/projects/{id}/heartbeats/{hid}/runs",
    name: "listHeartbeatRuns",
    summary: "A heartbeat's latest runs, newest first; the last 100 are kept",
    params: heartbeatPath,
    query: z.strictObject({ limit: queryInteger(1, 100).optional() }),
    status: 200,
    answer: z.object({ runs: z.array(heartbeatRun) }),
    errors: ["invalid_request", "not_found"],
    handle: ({ tenant, params, query }) => {
      const row = getHeartbeat(tenant.store, getProject(tenant.store, params.id), params.hid);
      return { runs: listRuns(tenant.store, row.id, query.limit ?? 30) };
    },
  }),
  ...(["pause", "resume"] as const).map((verb) =>
    route({
      ...common,
      method: "POST",
      path: `/v1/projects/{id}/heartbeats/{hid}/${verb}`,
      name: `${verb}Heartbeat`,
      summary:
        verb === "pause"
          ? "Watch a heartbeat no more for now; an alert that it is missing ends"
          : "Watch a heartbeat again, from now on",
      params: heartbeatPath,
      status: 200,
      answer: heartbeatAnswer,
      errors: ["not_found"],
      handle: async ({ tenant, params }) => {
        const project = getProject(tenant.store, params.id);
        const { id } = getHeartbeat(tenant.store, project, params.hid);
        await watchHeartbeat(tenant, id, verb === "resume");
        return readHeartbeat(tenant, getHeartbeat(tenant.store, project, id));
      },
    }),
  ),
  route({
    ...common,
    method: "POST",
    path: "/v1/projects/{id}/heartbeats/{hid}/rotate",
    name: "rotateHeartbeat",
    summary: "Replace a heartbeat's addresses",
    manager: true,
    params: heartbeatPath,
    status: 200,
    answer: heartbeatAddress,
    errors: ["forbidden", "not_found"],
    handle: ({ tenant, params }) =>
      withAddress(
        tenant,
        tenant.store.write((tx) => rotateHeartbeat(tx, getProject(tx, params.id), params.hid)),
      ),
  }),
];
