import {
  type Adapter,
  alertCaps,
  type Decoded,
  type InRequest,
  UnreadableBody,
  type WatchedKeys,
} from "./adapter.ts";
import { alertmanager } from "./alertmanager.ts";
import { fitted } from "./fit.ts";
import { flattened } from "./flatten.ts";
import { grafana } from "./grafana.ts";
import { asText, type JsonFields, jsonBody, objectOf } from "./json.ts";
import { ALERT_LEVEL, levelOfWord } from "./levels.ts";
import { sns } from "./sns.ts";

/** Grafana OnCall's inbound addresses: a type, and then that type's format (contract §23). */
export const oncall: Adapter = {
  kind: "oncall",
  title: "Senders for Grafana OnCall",
  identity: {
    title: ["title", "message", "text", "summary", "subject", "name", "description"],
    labels: [],
    named: "some",
  },
  room: "source",
  caps: alertCaps,
  fixed(path) {
    const [found, type, token, job = ""] =
      /^\/integrations\/v1\/([a-z_]+)\/([^/]+)(\/heartbeat)?\/?$/.exec(path) ?? [];
    return found === undefined ? null : `/${token}/${type}${job}`;
  },
  async believe(request, ask) {
    await otherOf(request.path)?.believe?.({ ...request, path: "" }, ask);
  },
  decode,
  setUp: ({ base, token }) => ({
    where: "the sender, in place of the address of its OnCall integration",
    paste: `${base}/v1/in/oncall/${token}/formatted_webhook`,
    notes: [
      "The last part is the type of the integration, as in OnCall's own address: formatted_webhook, webhook, alertmanager, grafana_alerting, grafana, amazon_sns.",
      "The name of an alert is its alert_uid, else its title. The state ok ends it, every other opens it.",
      "Its heartbeat address, …/heartbeat/, reports to the heartbeat here whose slug is the source's name: box heartbeat add.",
      "Most senders try once: what they send while the box is off is lost.",
    ],
  }),
};

/** Types with an adapter of their own. */
const OTHERS: Readonly<Record<string, Adapter>> = {
  alertmanager,
  grafana_alerting: grafana,
  grafana,
  amazon_sns: sns,
};

/** The integration's type, "" for none; null where the path isn't one of OnCall's. */
function typeOf(path: string): string | null {
  const [found, type = ""] = /^(?:\/([a-z_]+))?\/?$/.exec(path) ?? [];
  return found === undefined ? null : type;
}

function otherOf(path: string): Adapter | null {
  const type = typeOf(path) ?? "";
  return Object.hasOwn(OTHERS, type) ? (OTHERS[type] ?? null) : null;
}

function decode(request: InRequest): Decoded {
  if (/^\/[a-z_]+\/heartbeat\/?$/.test(request.path)) return heartbeat(request);
  const type = typeOf(request.path);
  if (type === null) throw new UnreadableBody({ why: "not_found" });
  const other = otherOf(request.path);
  if (other !== null) return { ...other.decode({ ...request, path: "" }), answer: ok };
  if (request.method !== "POST") throw new UnreadableBody({ why: "method", allowed: ["POST"] });
  const fields = objectOf(jsonBody(request.body));
  if (fields === null) throw new UnreadableBody("The body must be an object.");
  const isFormatted = type === "" || type === "formatted_webhook";
  return { events: [eventOf(fields, isFormatted, request.watched)], rejected: [], answer: ok };
}

/** An integration's heartbeat goes to the heartbeat whose slug is the source's name. */
function heartbeat({ method }: InRequest): Decoded {
  if (method !== "GET" && method !== "POST")
    throw new UnreadableBody({ why: "method", allowed: ["GET", "POST"] });
  return {
    events: [],
    rejected: [],
    jobs: [{ name: null, word: "success", rid: null, pace: null, otherwise: "rejected" }],
    answer({ rejected }) {
      if (rejected > 0) throw new UnreadableBody({ why: "not_found" });
      return ok();
    },
  };
}

const ok = () => ({ status: 200, body: '"Ok."' });

const TITLES = ["title", "message", "text", "summary", "subject", "name", "description"];
const LEVELS = ["severity", "level", "priority"];
const READ = ["alert_uid", "title", "image_url", "state", "link_to_upstream_details", "message"];

/** Only in a formatted webhook does the title name the alert. */
function eventOf(fields: JsonFields, isFormatted: boolean, watched: WatchedKeys) {
  const text = (name: string) => asText(fields[name]).trim();
  const [firstLine = ""] = (TITLES.map(text).find((line) => line !== "") ?? "").split("\n");
  const dedupKey = text("alert_uid") || (isFormatted ? text("title") : "");
  const image = text("image_url");
  const others = Object.entries(fields).filter(([name]) => !READ.includes(name));
  const word = LEVELS.map(text).find((level) => level !== "") ?? "";
  const action = text("state").toLowerCase() === "ok" ? "resolve" : "fire";
  return fitted(
    {
      message: firstLine || JSON.stringify(fields).slice(0, 1024),
      title: firstLine,
      level: (isFormatted ? null : levelOfWord(word)) ?? ALERT_LEVEL,
      details: text("message") === firstLine ? "" : text("message"),
      keys: flattened(Object.fromEntries(others), watched),
      tags: ["oncall"],
      // An end without a name opens nothing either; it is counted.
      ...(dedupKey === "" && action === "fire"
        ? {}
        : { named: { action, dedupKey: dedupKey || null, instance: null, expiresAt: null } }),
      links: [{ href: text("link_to_upstream_details"), text: "Source" }],
      images: image === "" ? [] : [{ src: image }],
    },
    watched,
  );
}
