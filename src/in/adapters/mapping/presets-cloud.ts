import type { Preset } from "./preset.ts";

const lower = ["trim", "lower"];

/** Monitoring services of clouds. */
export const cloudPresets: Readonly<Record<string, Preset>> = {
  "google-cloud": {
    title: "Google Cloud Monitoring, notification channel Webhook",
    document: {
      message: { at: "/incident/summary" },
      level: {
        at: "/incident/severity",
        do: lower,
        map: { critical: 500, error: 400, warning: 300 },
        else: 400,
      },
      action: { at: "/incident/state", do: lower, map: { closed: "resolve" }, else: "fire" },
      dedup_key: { at: "/incident/incident_id" },
      occurred_at: { at: "/incident/started_at", do: ["time"] },
      details: { at: "/incident/documentation/content" },
      links: [{ at: "/incident/url", text: "Google Cloud" }],
      keys: {
        from: ["/incident/metric/labels", "/incident/policy_user_labels"],
        set: {
          policy_name: "/incident/policy_name",
          condition_name: "/incident/condition_name",
          resource: {
            first: [{ at: "/incident/resource_display_name" }, { at: "/incident/resource_name" }],
          },
        },
      },
      tags: ["google-cloud"],
    },
  },
  azure: {
    title: "Azure Monitor, action group with the common alert schema",
    document: {
      message: { text: "{/data/essentials/alertRule}{/data/essentials/description|prefix:: }" },
      level: {
        at: "/data/essentials/severity",
        do: lower,
        map: { sev0: 500, sev1: 400, sev2: 300, sev3: 200, sev4: 100 },
        else: 400,
      },
      action: {
        at: "/data/essentials/monitorCondition",
        do: lower,
        map: { resolved: "resolve" },
        else: "fire",
      },
      dedup_key: { at: "/data/essentials/alertId" },
      occurred_at: { at: "/data/essentials/firedDateTime", do: ["time"] },
      links: [
        {
          href: {
            text: "https://portal.azure.com/#view/Microsoft_Azure_Monitoring_Alerts/AlertDetails.ReactView/alertId~{/data/essentials/alertId|replace:/:%2F}",
          },
          text: "Azure",
        },
      ],
      keys: { from: ["/data/essentials", "/data/customProperties"] },
      tags: ["azure"],
    },
  },
  datadog: {
    title: "Datadog, integration Webhooks",
    paste: `{"id":"$ID","title":"$EVENT_TITLE","body":"$TEXT_ONLY_MSG","transition":"$ALERT_TRANSITION","alert_type":"$ALERT_TYPE","aggreg_key":"$AGGREG_KEY","priority":"$PRIORITY","tags":"$TAGS","link":"$LINK","snapshot":"$SNAPSHOT","date":"$DATE","hostname":"$HOSTNAME"}`,
    document: {
      message: { at: "/title" },
      level: {
        first: [
          { at: "/transition", do: lower, map: { warn: 300, "re-warn": 300 } },
          { at: "/alert_type", do: lower, map: { error: 400, warning: 300, info: 200 } },
        ],
        else: 400,
      },
      action: {
        at: "/transition",
        do: lower,
        map: { recovered: "resolve", "no data recovered": "resolve" },
        else: "fire",
      },
      dedup_key: { at: "/aggreg_key" },
      occurred_at: { at: "/date", do: ["time"] },
      details: { at: "/body" },
      links: [{ at: "/link", text: "Datadog" }],
      images: [{ at: "/snapshot", do: ["url"] }],
      keys: { set: { host: "/hostname", tags: "/tags", priority: "/priority" } },
      tags: ["datadog", { at: "/tags", do: ["split:,", "trim"] }],
    },
  },
};

/** Services that build code. */
export const forgePresets: Readonly<Record<string, Preset>> = {
  github: {
    title: "GitHub, webhook with workflow runs (content type application/json)",
    document: {
      when: [
        { at: "#h/x-github-event", in: ["workflow_run"] },
        { at: "/action", in: ["completed"] },
      ],
      message: {
        text: "{/repository/full_name}: {/workflow_run/name} on {/workflow_run/head_branch} {/workflow_run/conclusion}",
      },
      level: {
        at: "/workflow_run/conclusion",
        map: { failure: 400, timed_out: 400, startup_failure: 400, action_required: 300 },
        else: 200,
      },
      action: { at: "/workflow_run/conclusion", map: { success: "resolve" }, else: "fire" },
      dedup_key: {
        text: "{/repository/full_name}:{/workflow_run/workflow_id}:{/workflow_run/head_branch}",
      },
      links: [{ at: "/workflow_run/html_url", text: "GitHub" }],
      keys: {
        set: {
          repository: "/repository/full_name",
          workflow: "/workflow_run/name",
          branch: "/workflow_run/head_branch",
          actor: "/workflow_run/actor/login",
        },
      },
      tags: ["github"],
    },
  },
  gitlab: {
    title: "GitLab, webhook with pipeline events",
    document: {
      when: [
        { at: "/object_kind", in: ["pipeline"] },
        { at: "/object_attributes/status", in: ["success", "failed"] },
      ],
      message: {
        text: "{/project/path_with_namespace}: pipeline on {/object_attributes/ref} {/object_attributes/status}",
      },
      level: { at: "/object_attributes/status", map: { failed: 400 }, else: 200 },
      action: { at: "/object_attributes/status", map: { success: "resolve" }, else: "fire" },
      dedup_key: { text: "{/project/path_with_namespace}:{/object_attributes/ref}" },
      links: [{ at: "/object_attributes/url", text: "GitLab" }],
      keys: {
        set: {
          project: "/project/path_with_namespace",
          branch: "/object_attributes/ref",
          author: "/commit/author/name",
        },
      },
      tags: ["gitlab"],
    },
  },
};
