import type { Preset } from "./preset.ts";

const lower = ["trim", "lower"];

/** Services that deploy programs, and status pages of others. */
export const deliveryPresets: Readonly<Record<string, Preset>> = {
  argocd: {
    title:
      "Argo CD, notifications by webhook, for the triggers on-health-degraded, on-sync-failed and on-deployed",
    paste: `{"app":"{{.app.metadata.name}}","namespace":"{{.app.spec.destination.namespace}}","health":"{{.app.status.health.status}}","sync":"{{.app.status.sync.status}}","phase":"{{.app.status.operationState.phase}}","message":{{toJson .app.status.operationState.message}},"revision":"{{.app.status.sync.revision}}","url":"{{.context.argocdUrl}}/applications/{{.app.metadata.name}}"}`,
    document: {
      message: { text: "{/app}: {/health|lower}{/phase|lower|prefix:, sync }" },
      level: {
        first: [
          { at: "/phase", map: { Failed: 400, Error: 400 } },
          { at: "/health", map: { Degraded: 400, Missing: 400, Unknown: 300, Suspended: 300 } },
        ],
        else: 200,
      },
      action: {
        first: [
          { at: "/phase", map: { Failed: "fire", Error: "fire" } },
          { at: "/health", map: { Healthy: "resolve" } },
        ],
        else: "fire",
      },
      dedup_key: { text: "{/namespace}/{/app}" },
      details: { at: "/message" },
      links: [{ at: "/url", text: "Argo CD" }],
      keys: { from: [""], drop: ["/message", "/url"] },
      tags: ["argocd"],
    },
  },
  flux: {
    title: "Flux, notification-controller's Provider of type generic",
    document: {
      message: {
        text: "{/involvedObject/kind} {/involvedObject/namespace}/{/involvedObject/name}: {/message|line}",
      },
      level: { at: "/severity", do: lower, map: { error: 400 }, else: 200 },
      // An error ends with the next success, not with another try.
      action: {
        first: [
          { at: "/severity", do: lower, map: { error: "fire" } },
          { at: "/reason", map: { Progressing: "note", DependencyNotReady: "note" } },
        ],
        else: "resolve",
      },
      dedup_key: {
        text: "{/involvedObject/kind}/{/involvedObject/namespace}/{/involvedObject/name}",
      },
      occurred_at: { at: "/timestamp", do: ["time"] },
      details: { at: "/message" },
      keys: {
        from: ["/metadata"],
        set: {
          kind: "/involvedObject/kind",
          namespace: "/involvedObject/namespace",
          name: "/involvedObject/name",
          reason: "/reason",
          controller: "/reportingController",
        },
      },
      tags: ["flux"],
    },
  },
  jenkins: {
    title: "Jenkins, Notification plugin (format JSON, protocol HTTP, event Job Finalized)",
    document: {
      when: [{ at: "/build/phase", in: ["FINALIZED"] }],
      message: { text: "{/name} #{/build/number}: {/build/status|lower}" },
      level: { at: "/build/status", map: { FAILURE: 400, UNSTABLE: 300 }, else: 200 },
      action: { at: "/build/status", map: { SUCCESS: "resolve" }, else: "fire" },
      dedup_key: { text: "jenkins:{/name}" },
      occurred_at: { at: "/build/timestamp", do: ["time"] },
      details: { at: "/build/log" },
      links: [{ at: "/build/full_url", text: "Jenkins" }],
      keys: {
        set: {
          job: "/name",
          number: "/build/number",
          branch: "/build/scm/branch",
          commit: "/build/scm/commit",
        },
      },
      tags: ["jenkins"],
    },
  },
  statuspage: {
    title: "Atlassian Statuspage, a page that is subscribed to by webhook",
    document: {
      message: {
        first: [
          { at: "/incident/name" },
          { text: "{/component/name} is {/component_update/new_status|replace:_: }" },
        ],
      },
      level: {
        first: [
          { at: "/incident/impact", map: { critical: 500, major: 400, minor: 300, none: 200 } },
          {
            at: "/component_update/new_status",
            map: { major_outage: 500, partial_outage: 400, degraded_performance: 300 },
          },
        ],
        else: 200,
      },
      action: {
        first: [
          {
            at: "/incident/status",
            map: { resolved: "resolve", postmortem: "resolve", completed: "resolve" },
          },
          { at: "/component_update/new_status", map: { operational: "resolve" } },
        ],
        else: "fire",
      },
      dedup_key: { first: [{ at: "/incident/id" }, { at: "/component/id" }] },
      details: { at: "/incident/incident_updates/0/body" },
      links: [{ at: "/incident/shortlink", text: "Statuspage" }],
      keys: {
        set: {
          status: { first: [{ at: "/incident/status" }, { at: "/component_update/new_status" }] },
          impact: "/incident/impact",
          component: "/component/name",
        },
      },
      tags: ["statuspage"],
    },
  },
};
