import { changeHeartbeat, rotateHeartbeat } from "../../../in/heartbeats/heartbeats.ts";
import { mustManage } from "../../../people/roles.ts";
import { dropHeartbeat, watchHeartbeat } from "../../../tenant/heartbeat-verbs.ts";
import { PING } from "../../http/ping.ts";
import { type Form, pathOf } from "../screen.ts";
import { heartbeatOfFields } from "./fields.ts";
import { makeHeartbeatRule } from "./heartbeat-rule.ts";
import { heartbeatHere } from "./here.ts";

/** What is done to one heartbeat, by what stands behind its address. */
export const heartbeatActions: Readonly<Record<string, Form>> = {
  "": {
    verb: "changeHeartbeat",
    act(call, form) {
      const { row, project } = heartbeatHere(call);
      const body = heartbeatOfFields(form);
      call.tenant.store.write((tx) => changeHeartbeat(tx, project, { id: row.id, body }));
      return { said: `${body.name} is changed; at least its grace is left.` };
    },
  },
  pause: {
    verb: "pauseHeartbeat",
    async act(call) {
      const { row } = heartbeatHere(call);
      await watchHeartbeat(call.tenant, row.id, false);
      return {
        said: `${row.name} is paused: nobody waits for it.`,
        undo: { action: `/heartbeats/${row.id}/resume` },
      };
    },
  },
  resume: {
    verb: "resumeHeartbeat",
    async act(call) {
      const { row } = heartbeatHere(call);
      await watchHeartbeat(call.tenant, row.id, true);
      return {
        said: `${row.name} is watched again, from now on.`,
        undo: { action: `/heartbeats/${row.id}/pause` },
      };
    },
  },
  hear: {
    verb: "createRule",
    act(call, form) {
      const { row, project } = heartbeatHere(call);
      const recipient = form.get("recipient") ?? "";
      const rule = call.tenant.store.write((tx) =>
        makeHeartbeatRule(tx, project, { heartbeat: row, recipient }),
      );
      return { said: `The rule ${rule} is saved. It takes only this heartbeat.` };
    },
  },
  rotate: {
    verb: "rotateHeartbeat",
    act(call) {
      mustManage(call.who.role);
      const { row, project } = heartbeatHere(call);
      const { addresses } = call.tenant.store.write((tx) => rotateHeartbeat(tx, project, row.id));
      return {
        said: "A new address. The old one no longer works.",
        to: `/heartbeats/${row.id}`,
        shown: { ping_url: `${call.origin}${PING}/${addresses.secret}`, uuid: addresses.uuid },
      };
    },
  },
  delete: {
    verb: "deleteHeartbeat",
    async act(call) {
      const { row, project } = heartbeatHere(call);
      await dropHeartbeat(call.tenant, project, row.id);
      return {
        said: `${row.name} is deleted. Its address no longer works.`,
        to: pathOf("p", project.name, "heartbeats"),
      };
    },
  },
};
