import { deflateSync } from "node:zlib";
import type { InRequest } from "../../../src/in/adapters/adapter.ts";
import { sent } from "./clean.ts";
import { alarm, control, notification } from "./sns-messages.ts";

export const cloudEvent = {
  specversion: "1.0",
  id: "7",
  source: "/shop",
  type: "com.example.order.failed",
  subject: "order/17",
  time: "2026-01-05T09:00:00Z",
  datacontenttype: "application/json",
  data: { message: "Order 17 failed", severity: "critical", alert_id: "a1", order: { id: 17 } },
};

/** Webhooks and messages of chat programs, by kind. */
export const hookSamples: Readonly<Record<string, readonly InRequest[]>> = {
  hook: webhooks(),
  slack: [sent(JSON.stringify(slackMessage())), form("payload", JSON.stringify(slackMessage()))],
  discord: [sent(JSON.stringify(discordMessage()))],
  gotify: [
    sent('{"title":"pve1","message":"backup failed","priority":8,"extras":{"a::b":{"c":[1]}}}', {
      path: "/message",
    }),
    { ...form("message", "backup failed\nof two"), path: "/message" },
  ],
  sentry: sentryCalls(),
  cloudevents: cloudEvents(),
  sns: [
    sent(JSON.stringify(notification(alarm("ALARM")))),
    sent(JSON.stringify(notification("[nas-02] Pool degraded", { Subject: "NAS" }))),
    sent(JSON.stringify(control("SubscriptionConfirmation"))),
  ],
  ntfy: [
    sent("96 % full\nof disk", {
      path: "/box",
      header: headers({ title: "=?UTF-8?B?RsO8bGw=?=", priority: "urgent", tags: "warning,disk" }),
    }),
    sent('{"topic":"box","title":"Disk","message":"96 %","priority":4,"tags":["disk"]}'),
  ],
};

function headers(given: Readonly<Record<string, string>>): InRequest["header"] {
  return (name) => given[name];
}

function form(name: string, value: string): InRequest {
  return sent(new URLSearchParams({ [name]: value }).toString(), {
    header: headers({ "content-type": "application/x-www-form-urlencoded" }),
  });
}

/** Without a mapping, with one that uses every feature, and with a preset. */
function webhooks(): InRequest[] {
  const body = {
    id: 7,
    title: "Disk full",
    description: "Writes stop.",
    status: "firing",
    severity: "critical",
    tags: [{ tag: "scope", value: "disk" }],
    nested: { a: { b: [1, "two", null] }, big: 12_345_678_901_234_567_890n.toString() },
    url: "https://example.com/7",
    at: 1_767_603_600_123,
    list: [{ name: "one" }, { name: "two" }],
    html: "<p>a &amp; b<br>c</p><script>d</script>",
  };
  const mapping = {
    each: "/list",
    when: [{ at: "^/status", in: ["firing", null] }],
    message: { text: "{/name|upper} {{ {^/title|cut:20|replace:i:ii}" },
    level: { at: "^/severity", map: { x: 100 }, else: "word" },
    dedup_key: { first: [{ at: "/id" }, { text: "{^/id}:{/name}", do: ["hash"] }] },
    instance: { at: "^/at", do: ["time"] },
    occurred_at: { at: "^/at", do: ["time"] },
    details: { at: "^/html", do: ["html", "trim"] },
    links: [{ at: "^/url", text: "Seven" }],
    keys: {
      from: ["", "^/nested", { at: "^/tags", do: ["kv"] }],
      drop: ["/id"],
      set: { n: "/name" },
    },
    tags: ["x", { at: "^/nested/a/b", do: ["join:-", "split:-"] }],
  };
  const text = JSON.stringify(body);
  return [
    sent(text),
    sent(text, { options: { mapping } }),
    sent(JSON.stringify({ heartbeat: { status: 0 }, monitor: { id: 1 }, msg: "down" }), {
      options: { mapping: "uptime-kuma" },
    }),
    sent(JSON.stringify([body, body, 7]), {
      header: headers({ "content-type": "application/json" }),
    }),
    form("data", text),
    sent("<a>Disk <b>full</b></a>", { header: headers({ "content-type": "text/xml" }) }),
  ];
}

function slackMessage() {
  return {
    text: "*nas-02*: Pool <https://example.com/tank|tank> is DEGRADED",
    channel: "#ops",
    attachments: [
      {
        color: "danger",
        title: "Alert",
        text: "A device has an error",
        fields: [{ title: "a", value: "b" }],
      },
    ],
    blocks: [{ type: "section", text: { type: "mrkdwn", text: "More" } }],
  };
}

function discordMessage() {
  return {
    username: "bot",
    content: "Backup failed",
    embeds: [
      {
        title: "nas-02",
        description: "volume read-only",
        color: 15_158_332,
        fields: [{ name: "job", value: "17" }],
        image: { url: "https://example.com/a.png" },
      },
    ],
  };
}

export function sentryError(event_id = "4559a37a1d4349fbb337266fef3a657a") {
  const frame = (name: string, in_app: boolean) => ({
    function: name,
    module: "shop",
    lineno: 7,
    in_app,
  });
  return {
    event_id,
    level: "error",
    timestamp: 1_767_603_600.5,
    environment: "production",
    release: "shop@1.4.2",
    tags: { tenant: "acme" },
    user: { id: "4711", email: "customer@example.com" },
    contexts: { trace: { trace_id: "6236296415ff468c9612f24edc4f833c" } },
    exception: {
      values: [
        { type: "RangeError", value: "the cause" },
        {
          type: "TypeError",
          value: "x is undefined",
          mechanism: { type: "onunhandledrejection", handled: false },
          stacktrace: { frames: [frame("run", false), frame("main", true), frame("pay", true)] },
        },
      ],
    },
  };
}

/** An envelope of items, each with its length. */
export function sentryEnvelope(
  items: readonly (readonly [type: string, payload: object | string])[],
  headers: object = {},
): string {
  const parts = items.map(([type, payload]) => {
    const text = typeof payload === "string" ? payload : JSON.stringify(payload);
    return `${JSON.stringify({ type, length: Buffer.byteLength(text) })}\n${text}\n`;
  });
  return `${JSON.stringify(headers)}\n${parts.join("")}`;
}

function sentryCalls(): InRequest[] {
  const log = {
    items: [
      {
        timestamp: 1_767_603_600.5,
        level: "error",
        body: "user could not log in",
        attributes: {
          attempt: { value: 3, type: "integer" },
          "user.email": { value: "a@b.example" },
        },
      },
    ],
  };
  const feedback = { contexts: { feedback: { message: "It broke" } }, environment: "production" };
  const items = [
    ["attachment", "a\nb"],
    ["event", sentryError()],
    ["log", log],
    ["feedback", feedback],
    ["check_in", { monitor_slug: "nightly", status: "error", duration: 12.5 }],
    ["session", { sid: "1" }],
  ] as const;
  const path = "/api/1/envelope/";
  const store = "/api/1/store/";
  const old = { ...sentryError(), exception: [{ value: "said" }], tags: [["a", "b"]] };
  return [
    sent(sentryEnvelope(items, { dsn: `http://${"0".repeat(32)}@box.example.com/1` }), { path }),
    sent(`{}\n{"type":"event"}\n${JSON.stringify(old)}`, { path }),
    sent(JSON.stringify(sentryError()), { path: store }),
    sent(deflateSync(JSON.stringify(sentryError())).toString("base64"), { path: store }),
  ];
}

function cloudEvents(): InRequest[] {
  const type = (text: string, more: object = {}) => ({
    header: headers({ "content-type": text, ...more }),
  });
  const binary = {
    "ce-specversion": "1.0",
    "ce-id": "8",
    "ce-source": "/shop",
    "ce-type": "a.b",
    "ce-subject": "Euro%20%E2%82%AC",
  };
  const second = { ...cloudEvent, id: "8", data: undefined, data_base64: "eyJhIjoxfQ==" };
  return [
    sent(JSON.stringify(cloudEvent), type("application/cloudevents+json")),
    sent(
      JSON.stringify([cloudEvent, second, { id: "9" }]),
      type("application/cloudevents-batch+json"),
    ),
    sent(JSON.stringify(cloudEvent.data), type("application/json", binary)),
  ];
}
