import type { Behaviour } from "./receiver.ts";

export const TWILIO_SID = "AC0123456789abcdef0123456789abcdef";
export const TWILIO_TOKEN = "canary-twilio-auth-token-0123456";
/** May send and read messages, and nothing of the account. */
export const TWILIO_KEY = "SKcanary0123456789abcdef012345678";
export const TWILIO_SECRET = "canary-twilio-api-secret-0123456";
export const TWILIO_FROM = "+15550001111";
/** Not a number at all, and one whose owner said stop. */
export const TWILIO_BAD = "+15005550001";
export const TWILIO_STOPPED = "+15005550004";

/** A text or a call that was made. */
export interface TwilioMade {
  resource: "Messages" | "Calls";
  form: URLSearchParams;
  sid: string;
  to: string;
  body: string | null;
  status: string;
  date_created: string;
}

/** Twilio's accounts: forms, one login, its own numbers for what it refuses, and lists of what was made. */
export function twilioService(now: number): {
  behaviour: Behaviour;
  /** Makes what is asked for and never says so. */
  lost: Behaviour;
  made: TwilioMade[];
  faults: string[];
} {
  const made: TwilioMade[] = [];
  const faults: string[] = [];
  const behaviour: Behaviour = (response, _socket, request) => {
    const say = (status: number, body: object) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    const refuse = (status: number, code: number) => {
      faults.push(String(code));
      say(status, { code, message: `canary ${request.headers["authorization"]}`, status });
    };
    const [path = "", query = ""] = request.path.split("?");
    const login = Buffer.from(`${TWILIO_SID}:${TWILIO_TOKEN}`).toString("base64");
    if (path === `/2010-04-01/Accounts/${TWILIO_SID}.json`)
      return request.headers["authorization"] === `Basic ${login}`
        ? say(200, { sid: TWILIO_SID, status: "active" })
        : refuse(401, 20_003);
    const [, account, resource] =
      /^\/2010-04-01\/Accounts\/(AC[0-9a-f]{32})\/(Messages|Calls)\.json$/.exec(path) ?? [];
    if (account !== TWILIO_SID) return refuse(404, 20_404);
    const keyLogin = Buffer.from(`${TWILIO_KEY}:${TWILIO_SECRET}`).toString("base64");
    if (![login, keyLogin].some((one) => request.headers["authorization"] === `Basic ${one}`))
      return refuse(401, 20_003);
    const kind = resource as TwilioMade["resource"];
    if (request.method === "GET") {
      const to = new URLSearchParams(query).get("To");
      const rows = made.filter((one) => one.resource === kind && one.to === to).reverse();
      return say(200, { [kind.toLowerCase()]: rows.map(({ form, ...row }) => row) });
    }
    if (request.headers["content-type"] !== "application/x-www-form-urlencoded")
      return refuse(400, 21_600);
    const form = new URLSearchParams(request.body);
    const to = form.get("To") ?? "";
    if (!/^\+[1-9]\d{4,14}$/.test(to) || to === TWILIO_BAD) return refuse(400, 21_211);
    if (to === TWILIO_STOPPED) return refuse(400, 21_610);
    const fault = kind === "Messages" ? textFault(form) : callFault(form);
    if (fault !== null) return refuse(400, fault);
    const sid = `${kind === "Calls" ? "CA" : "SM"}${String(made.length + 1).padStart(32, "0")}`;
    const date_created = new Date(now).toUTCString().replace("GMT", "+0000");
    const body = form.get("Body");
    made.push({ resource: kind, form, sid, to, body, status: "queued", date_created });
    say(201, { sid, status: "queued", to, body, date_created });
  };
  const lost: Behaviour = (_response, socket, request) => {
    const nobody = { writeHead: () => ({ end: () => undefined }) };
    behaviour(nobody as never, socket, request);
    socket.resetAndDestroy();
  };
  return { behaviour, lost, made, faults };
}

function textFault(form: URLSearchParams): number | null {
  const body = form.get("Body") ?? "";
  if (body === "") return 21_602;
  if (body.length > 1_600) return 21_617;
  if (form.get("From") !== TWILIO_FROM && !/^MG/.test(form.get("MessagingServiceSid") ?? ""))
    return 21_603;
  return callbackFault(form);
}

function callFault(form: URLSearchParams): number | null {
  const twiml = form.get("Twiml") ?? "";
  if (form.get("From") !== TWILIO_FROM) return 21_210;
  if (twiml.length > 4_000 || spokenIn(twiml) === null) return 21_240;
  const events = form.getAll("StatusCallbackEvent");
  const known = ["initiated", "ringing", "answered", "completed"];
  if (events.some((event) => !known.includes(event))) return 21_626;
  return callbackFault(form);
}

function callbackFault(form: URLSearchParams): number | null {
  const url = form.get("StatusCallback");
  return url === null || /^https:\/\/[^/]+\//.test(url) ? null : 21_609;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
};

/** The sentences that TwiML would speak; null where it is no XML, or holds what Twilio knows no verb for. */
export function spokenIn(twiml: string): string[] | null {
  const tag = /<(\/?)([A-Za-z]+)((?: [A-Za-z]+="[^"<]*")*)(\/?)>/gy;
  const open: string[] = [];
  const said: string[] = [];
  let at = 0;
  while (at < twiml.length) {
    tag.lastIndex = at;
    const [whole = "", closing = "", name = "", , single = ""] = tag.exec(twiml) ?? [];
    if (whole === "") {
      const text = /^[^<]+/.exec(twiml.slice(at))?.[0] ?? "";
      const isText = /^([^&<>\p{Cc}]|\n|&(amp|lt|gt|quot|#39);)+$/u.test(text);
      if (open.at(-1) !== "Say" || !isText) return null;
      said.push(text.replace(/&[#\w]+;/g, (entity) => ENTITIES[entity] ?? entity));
      at += text.length;
      continue;
    }
    if (!/^(Response|Say|Gather|Pause)$/.test(name)) return null;
    if (closing !== "" && open.pop() !== name) return null;
    if (closing === "" && single === "") open.push(name);
    at += whole.length;
  }
  return open.length === 0 && said.length > 0 ? said : null;
}
