import { browser } from "../../src/app/prove/browser.ts";
import { pushService } from "./browsers.ts";
import {
  homeserver,
  MATRIX_ROOM,
  MATRIX_TOKEN,
  SLACK_APP_TOKEN,
  SLACK_TOKEN,
  slackWorkspace,
  TELEGRAM_TOKEN,
  telegramService,
} from "./chats.ts";
import { headersOf, MAIL_PASSWORD, MAIL_USER, startMailServer } from "./mail.ts";
import {
  bodyOf,
  formOf,
  NTFY_TOKEN,
  ntfyServer,
  PUSHOVER_TOKEN,
  PUSHOVER_USER,
  pushoverServer,
} from "./pushes.ts";
import { answer, type Behaviour, hang, type Receiver, reset, startReceiver } from "./receiver.ts";
import { startTalkServer } from "./talk-server.ts";
import {
  spokenIn,
  TWILIO_FROM,
  TWILIO_KEY,
  TWILIO_SECRET,
  TWILIO_SID,
  TWILIO_TOKEN,
  twilioService,
} from "./twilio.ts";

/** Every service that serves people's contacts, as one kind of contact meets it. */

/** What a service can be like when it isn't well. */
export type Trouble = "down" | "slow" | "busy" | "nonsense" | "gone" | "revoked";

/** What a person saw or heard. */
export interface Shown {
  text: string;
  /** It made no sound, or took the place of another. */
  quiet: boolean;
}

export interface ContactService {
  kind: string;
  /** null: nobody has to serve it. */
  gateway: string | null;
  /** Settings of the gateway that work, the same with a wrong secret, and with an address that nobody may call. */
  settings: Readonly<Record<string, string>>;
  wrong: Readonly<Record<string, string>>;
  forbidden: Readonly<Record<string, string>>;
  /** A person's fields, and fields that are none. */
  contact: Readonly<Record<string, string>>;
  bad: Readonly<Record<string, string>>;
  gapSeconds: number;
  /** How the kind says what became of an alert: in place of the page, in a silent message, by ending the ringing. */
  notes: "edit" | "message" | "stop" | "none";
  /** The state of a contact that the service says is gone. */
  afterGone: "off" | "failing";
  /** All that the person was shown since the start, oldest first. */
  shown(): Shown[];
  /** Requests that a service of this sort would refuse; none is expected of a well box. */
  faults(): readonly string[];
  /** Requests so far, well or not, but for those that ask who has answered. */
  asked(): number;
  well(): void;
  /** The person presses the newest page's button, where it has one that works from anywhere. */
  press?(label: "Acknowledge" | "Resolve"): void;
  /** False where this service can't be so. */
  be(trouble: Trouble): boolean;
}

type Troubles = Partial<Record<Trouble, Behaviour>>;

interface OverHttp
  extends Omit<
    ContactService,
    "faults" | "asked" | "well" | "be" | "settings" | "wrong" | "forbidden"
  > {
  settings: Readonly<Record<string, string>>;
  /** Which of the settings is the secret that is made wrong. */
  secret: Readonly<Record<string, string>>;
  service: { behaviour: Behaviour; faults: string[] };
  troubles: Troubles;
}

/** Requests that only ask who has answered. */
const LOOKS = /\/getUpdates$|^\/box-\w+\/json|^\/1\/receipts\/\w+\.json|connections\.open$/;
const NOWHERE = "http://169.254.169.254/latest";
/** What a hotel's network says of everything. */
const PORTAL = answer(200, "<html>Welcome! Accept our terms.</html>");
/** Where a success has no words of its own. */
const ELSEWHERE = { nonsense: answer(302, "", { location: "/login" }) };

function overHttp(receiver: Receiver, of: OverHttp): ContactService {
  const { service, troubles, secret, ...rest } = of;
  const all: Troubles = {
    down: reset,
    slow: hang,
    nonsense: PORTAL,
    busy: answer(429, {}, { "retry-after": "20" }),
    ...troubles,
  };
  receiver.always(service.behaviour);
  return {
    ...rest,
    wrong: { ...of.settings, ...secret },
    forbidden: { ...of.settings, url: NOWHERE },
    faults: () => service.faults,
    asked: () => receiver.received.filter(({ path }) => !LOOKS.test(path)).length,
    well: () => receiver.always(service.behaviour),
    be(trouble) {
      const behaviour = all[trouble];
      if (behaviour !== undefined) receiver.always(behaviour);
      return behaviour !== undefined;
    },
  };
}

/** Whoever ends what was started. */
export interface Cleaner {
  after(end: () => unknown): void;
}

async function receiverOf(t: Cleaner): Promise<Receiver> {
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  return receiver;
}

const serviceMakers = {
  async telegram(t) {
    const receiver = await receiverOf(t);
    const chat = "887766554433";
    const service = telegramService(chat);
    const shown: Shown[] = [];
    let look: Parameters<Behaviour>[0] | null = null;
    let presses = 0;
    const behaviour: Behaviour = (response, socket, request) => {
      const before = service.messages.size;
      const faults = service.faults.length;
      if (request.path.endsWith("/answerCallbackQuery"))
        return answer(200, { ok: true, result: true })(response, socket, request);
      service.behaviour(response, socket, request);
      if (request.path.endsWith("/getUpdates")) look = response;
      if (/\/get(Me|Updates)$/.test(request.path) || service.faults.length > faults) return;
      const { text, disable_notification: still = false } = bodyOf(request);
      shown.push({ text, quiet: still || service.messages.size === before });
    };
    return overHttp(receiver, {
      kind: "telegram",
      gateway: "telegram",
      service: { ...service, behaviour },
      settings: { token: TELEGRAM_TOKEN, url: `${receiver.url}/` },
      secret: { token: "123456:wrong" },
      contact: { address: chat },
      bad: { address: "@ann" },
      gapSeconds: 5,
      notes: "edit",
      afterGone: "off",
      shown: () => shown,
      press(label) {
        const [id = 0, message] = [...service.messages].at(-1) ?? [];
        const keys = message?.reply_markup?.inline_keyboard.flat() ?? [];
        const data = keys.find(({ text }) => text === label)?.callback_data;
        const at = { message_id: id, chat: { id: Number(chat) } };
        const press = { id: `press${++presses}`, from: { id: Number(chat) }, message: at, data };
        const result = [{ update_id: 700 + presses, callback_query: press }];
        look?.writeHead(200).end(JSON.stringify({ ok: true, result }));
      },
      troubles: {
        busy: answer(429, {
          ok: false,
          error_code: 429,
          description: "Too Many Requests: retry after 20",
          parameters: { retry_after: 20 },
        }),
        gone: answer(403, {
          ok: false,
          description: "Forbidden: bot was blocked by the user",
        }),
        revoked: answer(401, { ok: false, error_code: 401, description: "Unauthorized" }),
      },
    });
  },

  async slack(t) {
    const receiver = await receiverOf(t);
    const line = await startTalkServer();
    t.after(() => line.close());
    const service = slackWorkspace(["U0ANN1234"], line.url);
    const shown: Shown[] = [];
    const behaviour: Behaviour = (response, socket, request) => {
      const faults = service.faults.length;
      service.behaviour(response, socket, request);
      if (!request.path.startsWith("/api/chat.") || service.faults.length > faults) return;
      const { blocks } = bodyOf(request);
      const text = blocks.flatMap((block: { text?: { text: string } }) => block.text?.text ?? []);
      shown.push({ text: text.join("\n"), quiet: request.path.endsWith("update") });
    };
    return overHttp(receiver, {
      kind: "slack",
      gateway: "slack",
      service: { ...service, behaviour },
      settings: {
        bot_token: SLACK_TOKEN,
        app_token: SLACK_APP_TOKEN,
        url: `${receiver.url}/api/`,
      },
      secret: { bot_token: "xoxb-wrong" },
      contact: { address: "U0ANN1234" },
      bad: { address: "#ops" },
      gapSeconds: 5,
      notes: "edit",
      afterGone: "off",
      shown: () => shown,
      troubles: {
        gone: answer(200, { ok: false, error: "user_disabled" }),
        revoked: answer(200, { ok: false, error: "token_revoked" }),
      },
    });
  },

  async matrix(t) {
    const receiver = await receiverOf(t);
    const service = homeserver();
    return overHttp(receiver, {
      kind: "matrix",
      gateway: "matrix",
      service,
      settings: { url: `${receiver.url}/hs`, access_token: MATRIX_TOKEN },
      secret: { access_token: "syt_wrong" },
      contact: { address: MATRIX_ROOM },
      bad: { address: "#ops:example.org" },
      gapSeconds: 5,
      notes: "edit",
      afterGone: "failing",
      shown: () =>
        [...service.events.values()].map(({ content }) => ({
          text: String(content["body"]),
          quiet: content["msgtype"] === "m.notice" || "m.relates_to" in content,
        })),
      troubles: {
        gone: answer(403, { errcode: "M_FORBIDDEN", error: "not in room" }),
        revoked: answer(401, { errcode: "M_UNKNOWN_TOKEN", error: "unknown" }),
      },
    });
  },

  async pushover(t) {
    const receiver = await receiverOf(t);
    const service = { ...pushoverServer(), faults: [] };
    const isMessage = ({ path }: { path: string }) => path === "/1/messages.json";
    const shown: Shown[] = [];
    const behaviour: Behaviour = (response, socket, request) => {
      service.behaviour(response, socket, request);
      if (/\/cancel\.json$/.test(request.path)) shown.push({ text: "still", quiet: true });
      if (!isMessage(request)) return;
      const { title = "", message = "", priority = "0" } = formOf(request);
      shown.push({ text: `${title}\n${message}`, quiet: Number(priority) < 0 });
    };
    return overHttp(receiver, {
      kind: "pushover",
      gateway: "pushover",
      service: { ...service, behaviour },
      settings: { token: PUSHOVER_TOKEN, url: `${receiver.url}/` },
      secret: { token: "w".repeat(30) },
      contact: { address: PUSHOVER_USER },
      bad: { address: "short" },
      gapSeconds: 5,
      notes: "stop",
      afterGone: "off",
      shown: () => shown,
      troubles: {
        gone: answer(400, { user: "invalid", errors: ["user identifier is invalid"], status: 0 }),
        revoked: answer(400, { token: "invalid", errors: ["application is invalid"], status: 0 }),
      },
    });
  },

  async ntfy(t) {
    const receiver = await receiverOf(t);
    const { published, ...service } = ntfyServer();
    // A second topic, where buttons write to.
    const pressed: { id: string; event: string; message: string }[] = [];
    const behaviour: Behaviour = (response, socket, request) => {
      if (!/^\/box-\w{32}\/json\?/.test(request.path))
        return service.behaviour(response, socket, request);
      const since = /since=([^&]*)/.exec(request.path)?.[1];
      const from = pressed.findIndex(({ id }) => id === since) + 1;
      const lines = pressed.slice(from).map((message) => `${JSON.stringify(message)}\n`);
      response.writeHead(200).end(lines.join(""));
    };
    const topic = "canary-ntfy-topic-of-ann";
    return overHttp(receiver, {
      kind: "ntfy",
      gateway: "ntfy",
      service: { ...service, behaviour },
      press(label) {
        const actions = published.at(-1)?.["actions"] as { label: string; body: string }[];
        const message = actions.find((action) => action.label === label)?.body ?? "";
        pressed.push({ id: `pressed${pressed.length}`, event: "message", message });
      },
      settings: { url: `${receiver.url}/`, access_token: NTFY_TOKEN },
      secret: { access_token: "tk_wrong" },
      contact: { address: topic },
      bad: { address: "no spaces" },
      gapSeconds: 5,
      notes: "message",
      afterGone: "failing",
      shown: () =>
        published.map(({ title, message, priority }) => ({
          text: `${title}\n${message}`,
          quiet: Number(priority) <= 2,
        })),
      troubles: {
        busy: answer(
          429,
          { code: 42901, http: 429, error: "limit reached" },
          { "retry-after": "20" },
        ),
        revoked: answer(401, { code: 40101, http: 401, error: "unauthorized" }),
      },
    });
  },

  async sms(t, now) {
    const receiver = await receiverOf(t);
    const service = twilioService(now);
    return overHttp(receiver, {
      ...twilio(receiver, service),
      kind: "sms",
      gapSeconds: 30,
      afterGone: "off",
      shown: () => service.made.map(({ body }) => ({ text: body ?? "", quiet: false })),
      troubles: {
        gone: answer(400, { code: 21_610, status: 400, message: "unsubscribed" }),
        revoked: answer(401, { code: 20_003, status: 401, message: "Authenticate" }),
      },
    });
  },

  async voice(t, now) {
    const receiver = await receiverOf(t);
    const service = twilioService(now);
    const spoken = (form: URLSearchParams) => (spokenIn(form.get("Twiml") ?? "") ?? []).join("\n");
    return overHttp(receiver, {
      ...twilio(receiver, service),
      kind: "voice",
      gapSeconds: 90,
      afterGone: "failing",
      settings: {
        ...twilio(receiver, service).settings,
        api_key: TWILIO_KEY,
        api_secret: TWILIO_SECRET,
      },
      secret: { api_secret: "wrong" },
      shown: () => service.made.map(({ form }) => ({ text: spoken(form), quiet: false })),
      troubles: {
        gone: answer(400, { code: 21_217, status: 400, message: "no number" }),
        revoked: answer(401, { code: 20_003, status: 401, message: "Authenticate" }),
      },
    });
  },

  async web_push(t, now) {
    const receiver = await receiverOf(t);
    const phone = browser();
    let key = "";
    const service = pushService(
      () => receiver.url,
      () => key,
      Math.floor(now / 1000),
    );
    // A browser subscribes with the key that it is shown: any is right as long as it stays the same.
    const behaviour: Behaviour = (response, socket, request) => {
      key ||= /k=([\w-]+)$/.exec(request.headers["authorization"] ?? "")?.[1] ?? "";
      service.behaviour(response, socket, request);
    };
    const { endpoint, keys } = phone.subscription(`${receiver.url}/push/canary-subscription`);
    return overHttp(receiver, {
      kind: "web_push",
      gateway: "web_push",
      service: { ...service, behaviour },
      settings: { subject: "mailto:owner@example.org" },
      secret: { subject: "owner" },
      contact: { address: endpoint, ...keys },
      bad: { address: endpoint, ...keys, p256dh: "AAAA" },
      gapSeconds: 5,
      notes: "message",
      afterGone: "off",
      shown: () =>
        service.taken.map(({ bytes = Buffer.alloc(0) }) => {
          const { title, body, silent, data } = JSON.parse(phone.open(bytes)).notification;
          const about = data.template === "" ? "" : `${data.rule} · ${data.template}`;
          return { text: [title, body, about].join("\n"), quiet: silent === true };
        }),
      troubles: { gone: answer(410), revoked: answer(403, "VapidPkHashMismatch"), ...ELSEWHERE },
    });
  },

  async webhook(t) {
    const receiver = await receiverOf(t);
    const shown: Shown[] = [];
    const behaviour: Behaviour = (response, _socket, request) => {
      const { title, lines, purpose, code } = bodyOf(request);
      shown.push({ text: [title, ...lines, code].join("\n"), quiet: purpose === "note" });
      response.writeHead(204).end();
    };
    const secret = "canary-webhook-contact-secret-4f";
    return overHttp(receiver, {
      kind: "webhook",
      gateway: null,
      service: { behaviour, faults: [] },
      settings: {},
      secret: {},
      contact: { address: `${receiver.url}/canary-hook`, secret },
      bad: { address: "not an address" },
      gapSeconds: 5,
      notes: "message",
      afterGone: "off",
      shown: () => shown,
      troubles: { gone: answer(410), ...ELSEWHERE },
    });
  },

  async email(t): Promise<ContactService> {
    const server = await startMailServer({ starttls: false, login: true });
    t.after(() => server.close());
    const settings = {
      host: "127.0.0.1",
      port: String(server.port),
      tls: "none",
      from: "box@shop.example",
      user: MAIL_USER,
      password: MAIL_PASSWORD,
    };
    const refusals: Partial<Record<Trouble, { code: number; text: string }>> = {
      down: { code: 421, text: "4.3.2 canary" },
      busy: { code: 450, text: "4.7.1 canary" },
      nonsense: { code: 554, text: "canary" },
      gone: { code: 550, text: "5.1.1 no such mailbox: canary-ann@example.org" },
    };
    let asked = 0;
    return {
      kind: "email",
      gateway: "email",
      settings,
      wrong: { ...settings, password: "wrong" },
      forbidden: { ...settings, host: "169.254.169.254" },
      contact: { address: "canary-ann@example.org" },
      bad: { address: "Ann <ann@example.org>, eve@example.org" },
      gapSeconds: 5,
      notes: "none",
      afterGone: "failing",
      shown: () => server.taken.map(({ raw }) => ({ text: mailText(raw), quiet: false })),
      faults: () => server.taken.flatMap(({ raw }) => mailFaults(raw)),
      asked: () => asked++,
      well() {
        server.refuse(null);
        server.revoke(false);
      },
      be(trouble) {
        const refusal = refusals[trouble];
        if (trouble === "revoked") server.revoke(true);
        else if (refusal !== undefined) server.refuse(refusal);
        return trouble === "revoked" || refusal !== undefined;
      },
    };
  },
} satisfies Record<string, (t: Cleaner, now: number) => Promise<ContactService>>;

export type ServiceName = keyof typeof serviceMakers;

export const serviceNames = Object.keys(serviceMakers) as ServiceName[];

/** Starts the service that one kind of contact talks to. `now`: the box's time in Unix milliseconds. */
export function contactService(
  t: Cleaner,
  name: ServiceName,
  now: number,
): Promise<ContactService> {
  return serviceMakers[name](t, now);
}

function twilio(receiver: Receiver, service: { behaviour: Behaviour; faults: string[] }) {
  const number = "+15550002222";
  return {
    gateway: "twilio",
    service,
    notes: "none" as const,
    settings: {
      account_sid: TWILIO_SID,
      auth_token: TWILIO_TOKEN,
      from: TWILIO_FROM,
      url: receiver.url,
    },
    secret: { auth_token: "wrong" },
    contact: { address: number },
    bad: { address: "0170 1234567" },
  };
}

/** Subject and text of a mail, as a person reads them. */
function mailText(raw: string): string {
  const subject = new Map(headersOf(raw)).get("Subject") ?? "";
  const [, part = ""] = /\r\n\r\n([\s\S]*?)\r\n--/.exec(raw.slice(raw.indexOf("text/plain"))) ?? [];
  const isBase64 = /text\/plain[\s\S]{0,80}base64/.test(raw);
  const text = isBase64
    ? Buffer.from(part, "base64").toString()
    : Buffer.from(
        part
          .replace(/=\r\n/g, "")
          .replace(/=([0-9A-F]{2})/g, (_all, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
        "latin1",
      ).toString();
  return `${subject}\n${text}`;
}

function mailFaults(raw: string): string[] {
  const names = headersOf(raw).map(([name]) => name.toLowerCase());
  const twice = ["to", "from", "subject"].filter(
    (name) => names.filter((each) => each === name).length !== 1,
  );
  const others = names.filter((name) => /^(bcc|cc|)$/.test(name));
  const long = raw.split("\r\n").filter((line) => Buffer.byteLength(line) > 998);
  return [...twice, ...others, ...long.map(() => "a line over 998 bytes")];
}
