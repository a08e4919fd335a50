import type { Preset } from "./preset.ts";
import { LIBRENMS } from "./presets-paste.ts";

const lower = ["trim", "lower"];

/** Services that check from outside, and network monitoring. */
export const servicePresets: Readonly<Record<string, Preset>> = {
  pingdom: {
    title: "Pingdom, integration Webhook",
    document: {
      message: { text: "{/check_name} is {/current_state|lower}{/description|prefix:: }" },
      level: { at: "/current_state", do: lower, map: { up: 200, success: 200 }, else: 400 },
      action: {
        at: "/current_state",
        do: lower,
        map: { up: "resolve", success: "resolve" },
        else: "fire",
      },
      dedup_key: { at: "/check_id", do: ["prefix:pingdom:"] },
      occurred_at: { at: "/state_changed_timestamp", do: ["time"] },
      details: { at: "/long_description" },
      keys: {
        from: ["/check_params"],
        set: { check: "/check_name", type: "/check_type", importance: "/importance_level" },
      },
      tags: ["pingdom", { at: "/tags" }],
    },
  },
  "new-relic": {
    title: "New Relic, workflow or alert policy with a webhook, its payload as it is",
    document: {
      message: {
        first: [
          { at: "/title" },
          { at: "/annotations/title/0" },
          { text: "{/policy_name}: {/condition_name}{/details|prefix:: }" },
        ],
      },
      level: {
        first: [
          { at: "/priority", do: lower },
          { at: "/severity", do: lower },
        ],
        map: { critical: 500, high: 400, warning: 300, medium: 300, low: 200, info: 200 },
        else: 400,
      },
      action: {
        first: [
          { at: "/state", do: lower },
          { at: "/current_state", do: lower },
        ],
        map: { closed: "resolve", acknowledged: "acknowledge" },
        else: "fire",
      },
      dedup_key: { first: [{ at: "/id" }, { at: "/issueId" }, { at: "/incident_id" }] },
      occurred_at: { first: [{ at: "/createdAt" }, { at: "/timestamp" }], do: ["time"] },
      details: { at: "/details" },
      links: [
        { at: "/issueUrl", text: "New Relic" },
        { at: "/incident_url", text: "New Relic" },
      ],
      keys: {
        set: {
          policy: { first: [{ at: "/alertPolicyNames/0" }, { at: "/policy_name" }] },
          condition: { first: [{ at: "/alertConditionNames/0" }, { at: "/condition_name" }] },
          entity: { at: "/impactedEntities/0" },
          state: { first: [{ at: "/state" }, { at: "/current_state" }] },
        },
      },
      tags: ["new-relic"],
    },
  },
  librenms: {
    title: "LibreNMS, transport API (method POST, body JSON)",
    paste: LIBRENMS,
    document: {
      message: { at: "/title" },
      level: {
        at: "/severity",
        do: lower,
        map: { critical: 500, warning: 300, ok: 200 },
        else: 400,
      },
      // 0 resolved, 1 firing, 2 acknowledged, 3 worse, 4 better, 5 changed.
      action: { at: "/state", do: lower, map: { 0: "resolve", 2: "acknowledge" }, else: "fire" },
      dedup_key: { at: "/id", do: ["prefix:librenms:"] },
      keys: { set: { host: "/host", rule: "/rule", device: "/device", severity: "/severity" } },
      tags: ["librenms"],
    },
  },
};
