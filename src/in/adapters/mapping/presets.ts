import type { Preset } from "./preset.ts";
import { cloudPresets, forgePresets } from "./presets-cloud.ts";
import { deliveryPresets } from "./presets-delivery.ts";
import { CHECKMK, ICINGA } from "./presets-paste.ts";
import { servicePresets } from "./presets-services.ts";

const upper = ["trim", "upper"];
const NAGIOS_LEVELS = {
  DOWN: 500,
  UNREACHABLE: 400,
  UNREACH: 400,
  CRITICAL: 500,
  CRIT: 500,
  WARNING: 300,
  WARN: 300,
  UNKNOWN: 300,
  OK: 200,
  UP: 200,
};
/** A flapping service fires even while it is OK: it ends with a recovery, or when the flapping stops while it is OK. */
const NAGIOS_ACTIONS = {
  RECOVERY: "resolve",
  ACKNOWLEDGEMENT: "acknowledge",
  OK: "resolve",
  FLAPPINGSTOPOK: "resolve",
  FLAPPINGSTOPUP: "resolve",
  FLAPPINGENDOK: "resolve",
  FLAPPINGENDUP: "resolve",
};
const NAGIOS_TYPES = [
  "PROBLEM",
  "RECOVERY",
  "ACKNOWLEDGEMENT",
  "FLAPPINGSTART",
  "FLAPPINGSTOP",
  "FLAPPINGEND",
];
/** While it flaps, the OK state says nothing about the severity. */
const nagiosLevel = (type: string, state: string) => ({
  first: [
    { text: `{${type}|upper}`, map: { FLAPPINGSTART: 400 } },
    { at: state, do: upper, map: NAGIOS_LEVELS },
  ],
  else: 400,
});
const nagiosAction = (type: string, state: string) => ({
  first: [
    { text: `{${type}|upper}{${state}|upper}`, map: NAGIOS_ACTIONS },
    { at: type, do: upper, map: NAGIOS_ACTIONS },
  ],
  else: "fire",
});
const lower = ["trim", "lower"];

const selfHosted: Readonly<Record<string, Preset>> = {
  "uptime-kuma": {
    title: "Uptime Kuma, notification type Webhook with a JSON body",
    document: {
      when: [{ at: "/heartbeat/status", in: [0, 1, null] }],
      message: { first: [{ at: "/msg" }, { text: "{/monitor/name}: {/heartbeat/msg}" }] },
      level: { at: "/heartbeat/status", map: { 0: 400, 1: 200 }, else: 200 },
      action: { at: "/heartbeat/status", map: { 1: "resolve" }, else: "fire" },
      dedup_key: { at: "/monitor/id", do: ["prefix:kuma:"] },
      occurred_at: { at: "/heartbeat/time", do: ["time"] },
      details: { at: "/heartbeat/msg" },
      links: [{ at: "/monitor/url", text: "Monitored" }],
      keys: {
        from: [{ at: "/monitor/tags", do: ["kv"] }],
        set: { monitor: "/monitor/name", type: "/monitor/type", url: "/monitor/url" },
      },
      tags: ["uptime-kuma"],
    },
  },
  zabbix: {
    title: "Zabbix, media type Webhook",
    paste: `{"event_id":"{EVENT.ID}","value":"{EVENT.VALUE}","severity":"{EVENT.NSEVERITY}","name":"{EVENT.NAME}","host":"{HOST.NAME}","trigger_id":"{TRIGGER.ID}","opdata":"{EVENT.OPDATA}","tags":{EVENT.TAGSJSON},"url":"{TRIGGER.URL}","update_status":"{EVENT.UPDATE.STATUS}","ack":"{EVENT.ACK.STATUS}"}`,
    document: {
      message: { text: "{/host}: {/name} {/opdata}" },
      level: {
        at: "/severity",
        map: { 5: 500, 4: 400, 3: 400, 2: 300, 1: 200, 0: 200 },
        else: "word",
      },
      // Comments and changes of severity are updates too: only an acknowledgement acknowledges.
      action: {
        first: [
          { at: "/value", map: { 0: "resolve" } },
          { text: "{/value}{/update_status}{/ack|lower}", map: { "11yes": "acknowledge" } },
        ],
        else: "fire",
      },
      dedup_key: { at: "/trigger_id" },
      instance: { at: "/event_id" },
      occurred_at: { at: "/clock", do: ["time"] },
      details: { at: "/message" },
      links: [{ at: "/url", text: "Zabbix" }],
      keys: {
        from: ["", { at: "/tags", do: ["kv"] }],
        drop: ["/url", "/tags", "/message"],
        set: { host: "/host" },
      },
      tags: ["zabbix"],
    },
  },
  healthchecks: {
    title: "Healthchecks, integration Webhook",
    paste: `{"check":"$NAME","status":"$STATUS","code":"$CODE","tags":"$TAGS","now":"$NOW"}`,
    document: {
      message: { text: "{/check} is {/status}" },
      level: { at: "/status", do: lower, map: { down: 400, up: 200 }, else: 400 },
      action: { at: "/status", do: lower, map: { up: "resolve" }, else: "fire" },
      dedup_key: { at: "/code" },
      occurred_at: { at: "/now", do: ["time"] },
      keys: { from: [""], drop: ["/now"] },
      tags: ["healthchecks", { at: "/tags", do: ["split: "] }],
    },
  },
  proxmox: {
    title: "Proxmox VE and Backup Server, notification target Webhook",
    paste: `{"title":"{{ escape title }}","message":"{{ escape message }}","severity":"{{ severity }}","timestamp":{{ timestamp }},"fields":{{ json fields }}}`,
    document: {
      message: { at: "/title" },
      level: {
        at: "/severity",
        do: lower,
        map: { info: 200, notice: 200, warning: 300, error: 400, unknown: 300 },
        else: "word",
      },
      // It never reports an end, so nothing here ends an alert.
      action: { const: "fire" },
      dedup_key: { const: "" },
      occurred_at: { at: "/timestamp", do: ["time"] },
      details: { at: "/message" },
      keys: { from: ["/fields"], set: { severity: "/severity" } },
      tags: ["proxmox"],
    },
  },
  synology: {
    title: "Synology DSM, custom webhook",
    paste: `{"text": "@@TEXT@@"}`,
    document: {
      message: {
        first: [
          { at: "/text", do: ["line"] },
          { at: "/message", do: ["line"] },
        ],
      },
      level: { const: 400 },
      details: { at: "/text" },
      keys: { set: { host: { at: "/text", do: ["after:[", "before:]", "cut:100"] } } },
      tags: ["synology"],
    },
  },
  unifi: {
    title: "UniFi, Alarm Manager webhook",
    document: {
      message: { text: "{/name} {/parameters/message|prefix:– }" },
      level: { const: 400 },
      occurred_at: { at: "/timestamp", do: ["time"] },
      keys: { from: ["/parameters"], set: { app: "/app", host: "/parameters/UNIFIhost" } },
      tags: ["unifi"],
    },
  },
  "home-assistant": {
    title: "Home Assistant, notify.rest",
    document: {
      message: { first: [{ at: "/message", do: ["line"] }, { at: "/title" }] },
      level: {
        first: [
          { at: "/data/severity", do: lower },
          { at: "/data/level", do: lower },
        ],
        map: { critical: 500, error: 400, warning: 300, info: 200 },
        else: 400,
      },
      action: {
        at: "/data/state",
        do: lower,
        map: { off: "resolve", ok: "resolve", closed: "resolve" },
        else: "fire",
      },
      dedup_key: { at: "/data/entity_id" },
      details: { at: "/message" },
      keys: { from: ["/data"], set: { title: "/title" } },
      tags: ["home-assistant"],
    },
  },
};

const monitoring: Readonly<Record<string, Preset>> = {
  checkmk: {
    title:
      "Checkmk, notification script that posts its words as JSON (`~/local/share/check_mk/notifications/box`, executable, with the source's address in URL; a rule in Setup > Notifications that calls it)",
    paste: CHECKMK,
    document: {
      when: [{ at: "/notification_type", do: upper, in: NAGIOS_TYPES }],
      message: { first: [{ at: "/summary" }, { text: "{/host} {/service} {/event}" }] },
      level: nagiosLevel("/notification_type", "/status"),
      action: nagiosAction("/notification_type", "/status"),
      dedup_key: { text: "{/site}:{/host}:{/service}" },
      details: { text: "{/output}\n{/long_output}" },
      links: [{ at: "/url", text: "Checkmk" }],
      keys: { from: [""], drop: ["/summary", "/output", "/long_output", "/url"] },
      tags: ["checkmk"],
    },
  },
  icinga: {
    title:
      "Icinga 2 and Nagios, notification command that posts its words as JSON (of hosts leave out the line with service; its state is `$host.state$`, its output `$host.output$`)",
    paste: ICINGA,
    document: {
      when: [{ at: "/type", do: upper, in: NAGIOS_TYPES }],
      message: { text: "{/host} {/service} {/state}: {/output|line}" },
      level: nagiosLevel("/type", "/state"),
      action: nagiosAction("/type", "/state"),
      dedup_key: { text: "{/host}:{/service}" },
      occurred_at: { at: "/time", do: ["time"] },
      details: { at: "/output" },
      links: [{ at: "/url", text: "Icinga" }],
      keys: { from: [""], drop: ["/output", "/url", "/time"] },
      tags: ["icinga"],
    },
  },
  netdata: {
    title: "Netdata Cloud, webhook",
    document: {
      message: { at: "/message" },
      level: {
        at: "/severity",
        do: lower,
        map: { critical: 500, warning: 300, clear: 200 },
        else: "word",
      },
      // A host that is reachable again has the severity "info".
      action: {
        first: [
          { at: "/severity", do: lower, map: { clear: "resolve" } },
          { at: "/status/reachable", map: { true: "resolve" } },
        ],
        else: "fire",
      },
      dedup_key: { text: "{/space}:{/host}:{/alert}:{/chart}" },
      occurred_at: { at: "/date", do: ["time"] },
      details: { at: "/info" },
      links: [
        { at: "/alert_url", text: "Netdata" },
        { at: "/url", text: "Netdata" },
      ],
      keys: { from: [""], drop: ["/message", "/info", "/date", "/alert_url", "/url"] },
      tags: ["netdata"],
    },
  },
};

/** Every known sender, by the preset's name in a mapping. */
export const presets: Readonly<Record<string, Preset>> = {
  ...selfHosted,
  ...monitoring,
  ...cloudPresets,
  ...servicePresets,
  ...forgePresets,
  ...deliveryPresets,
};
