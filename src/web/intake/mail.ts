import type { Socket } from "node:net";
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from "smtp-server";
import { shortToken } from "../../core/projects/sources.ts";
import type { Clock } from "../../ground/kit/clock.ts";
import { parseToken } from "../../ground/kit/ids.ts";
import type { MailOutcome, MailTaker } from "./mail-taker.ts";
import type { Port } from "./port.ts";
import { createShares } from "./shares.ts";
import type { OpenStream, TlsFiles } from "./tcp.ts";

const MIB = 1024 * 1024;
const MOST_BYTES = MIB;
/** Bytes of mails that are read at once, over all connections. */
const MOST_HELD = 32 * MIB;
/** A client that goes on past its limit for so long will not listen. */
const HOPELESS_BYTES = 16 * MIB;
const MOST_RECIPIENTS = 10;
const MOST_CONNECTIONS = 100;
/** Of one address: more than a mail server opens to one other. */
const MOST_OF_ADDRESS = 50;
/** Those that are told that there are too many. */
const SPARE_CONNECTIONS = 50;
const IDLE_MS = 60_000;
/** Until a recipient is known, and from one mail to the end of the next. */
const STRANGER_MS = 60_000;
const MAIL_MS = 300_000;
const CLOSE_MS = 2000;

const REPLIES = {
  stranger: ["554 5.7.1", "Your address may not send here"],
  recipient: ["550 5.1.1", "No such recipient here, and no mail is relayed"],
  login: ["535 5.7.8", "The password is no key of a source of kind email"],
  guesses: ["421 4.7.0", "Too many wrong keys: try again in a while"],
  size: ["552 5.3.4", `A mail may have ${MOST_BYTES} bytes`],
  crowded: ["421 4.7.0", "Too many connections from your address"],
  later: ["451 4.3.1", "Too much at once: try again shortly"],
  failed: ["451 4.3.0", "The mail could not be taken: try again"],
} as const;

/** The library writes the number as it is given, so that the finer one can stand behind it. */
function reply(name: keyof typeof REPLIES): Error {
  const [responseCode, text] = REPLIES[name];
  return Object.assign(new Error(text), { responseCode });
}

interface Caller {
  socket: Socket;
  address: string;
  /** Of the time that it has to come to something. */
  cancel(): void;
  /** Its mail is being written. */
  isBusy: boolean;
  /** It is none too many of its address. */
  hasPlace: boolean;
}

/** Listens for mail, with STARTTLS where it has files. Rejects with the system's own error. */
export async function openMail(
  { host, port }: Port,
  { taker, clock, tls }: { taker: MailTaker; clock: Clock; tls: TlsFiles | null },
): Promise<OpenStream> {
  const callers = new Map<string, Caller>();
  const held = { bytes: 0 };
  const expect = (caller: Caller, ms: number) => {
    caller.cancel();
    caller.cancel = clock.after(ms, () => caller.socket.destroy());
  };
  const callerOf = ({ id }: SMTPServerSession) => callers.get(id) as Caller;
  /** Says no to a wrong key, and ends with who tries too many. */
  const wrong = (session: SMTPServerSession, name: "login" | "recipient", tell: Tell) => {
    const { address, socket } = callerOf(session);
    taker.count("no_source");
    try {
      taker.guess(address);
      tell(reply(name));
    } catch {
      tell(reply("guesses"));
      socket.destroySoon();
    }
  };
  const server = new SMTPServer({
    ...OPTIONS,
    ...(tls === null ? { hideSTARTTLS: true } : tls),
    disabledCommands: [...USELESS, ...(tls === null ? ["STARTTLS"] : [])],
    onConnect(session, done) {
      const { address, hasPlace } = callerOf(session);
      if (taker.mayComeFrom(address) && hasPlace) return done();
      taker.count(hasPlace ? "not_allowed" : "overloaded");
      done(reply(hasPlace ? "stranger" : "crowded"));
    },
    onAuth({ username, password }, session, done) {
      const key = keyOfLogin({ user: username ?? "", password: password ?? "" });
      if (taker.find(key) === null) return wrong(session, "login", done);
      expect(callerOf(session), MAIL_MS);
      done(null, { user: key });
    },
    onRcptTo({ address }, session, done) {
      if (taker.find(tokenFor(address, session)) !== null) {
        expect(callerOf(session), MAIL_MS);
        return done();
      }
      // As much work without a key as with a wrong one.
      if (keyOfAddress(address) === null) taker.find(NOBODYS);
      wrong(session, "recipient", done);
    },
    onData(stream, session, done) {
      const caller = callerOf(session);
      expect(caller, MAIL_MS);
      collect(stream, { caller, held }, async (bytes) => {
        if (typeof bytes === "string") {
          taker.count(bytes === "later" ? "overloaded" : "unreadable");
          return done(reply(bytes));
        }
        caller.isBusy = true;
        const fate = await taker.deliver({ bytes, ...envelopeOf(session) });
        caller.isBusy = false;
        expect(caller, MAIL_MS);
        told(fate, done);
      });
    },
    onClose({ id }) {
      callers.get(id)?.cancel();
      callers.delete(id);
    },
  });
  const shares = createShares(MOST_OF_ADDRESS);
  let latest = 0;
  server.connect = (socket, options) => {
    const id = String(++latest);
    const address = socket.remoteAddress ?? "";
    const hasPlace = shares.admits(socket as Socket);
    const caller = { socket: socket as Socket, address, cancel() {}, isBusy: false, hasPlace };
    callers.set(id, caller);
    expect(caller, STRANGER_MS);
    SMTPServer.prototype.connect.call(server, socket, { ...options, id });
  };
  server.server.maxConnections = MOST_CONNECTIONS + SPARE_CONNECTIONS;
  server.server.on("drop", () => taker.count("overloaded"));
  // What goes wrong with one connection is that connection's.
  server.on("error", () => {});
  await new Promise<void>((resolve, reject) => {
    server.server.once("error", reject);
    server.listen(port, host, () => {
      server.server.off("error", reject);
      resolve();
    });
  });
  const at = server.server.address();
  return {
    port: typeof at === "object" && at !== null ? at.port : port,
    renew: (files) => server.updateSecureContext(files),
    take: (socket) => server.connect(socket, { id: "" }),
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        for (const { socket, isBusy } of callers.values()) if (!isBusy) socket.destroy();
      }),
  };
}

type Tell = (error: Error) => void;

const OPTIONS = {
  name: "box",
  banner: "",
  size: MOST_BYTES,
  maxClients: MOST_CONNECTIONS,
  maxRecipients: MOST_RECIPIENTS,
  socketTimeout: IDLE_MS,
  closeTimeout: CLOSE_MS,
  authOptional: true,
  allowInsecureAuth: true,
  authMethods: ["PLAIN", "LOGIN"],
  // Devices write addresses that no standard knows, and a name for each caller would be looked up.
  lenientAddressParsing: true,
  disableReverseLookup: true,
  logger: false,
  hideENHANCEDSTATUSCODES: false,
  minVersion: "TLSv1.2" as const,
  heloResponse: "%s",
};
const USELESS = ["WIZ", "SHELL", "KILL", "XCLIENT", "XFORWARD"];

/** A recipient's own key, else the login's, else null for whom the port is bound to. */
function tokenFor(address: string, { user }: SMTPServerSession): string | null {
  return keyOfAddress(address) ?? (typeof user === "string" ? user : null);
}

function envelopeOf(session: SMTPServerSession) {
  const { mailFrom, rcptTo } = session.envelope;
  return {
    tokens: rcptTo.map(({ address }) => tokenFor(address, session)),
    isBounce: mailFrom === false || mailFrom.address === "",
  };
}

function told(fate: MailOutcome, done: (error?: Error | null, message?: string) => void): void {
  if (fate === "taken") done(null, "taken");
  else done(reply(fate === "nobody" ? "recipient" : fate));
}

/** The mail's bytes once they are all here, or why they weren't kept; nothing for a client that went away. */
function collect(
  stream: SMTPServerDataStream,
  { caller, held }: { caller: Caller; held: { bytes: number } },
  take: (bytes: Buffer | "size" | "later") => Promise<void>,
): void {
  let chunks: Buffer[] = [];
  let kept = 0;
  let size = 0;
  let isFull = false;
  const letGo = () => {
    held.bytes -= kept;
    kept = 0;
    chunks = [];
  };
  stream.on("data", (chunk: Buffer) => {
    size += chunk.length;
    isFull ||= held.bytes + chunk.length > MOST_HELD;
    if (size > HOPELESS_BYTES) caller.socket.destroy();
    if (isFull || size > MOST_BYTES) return letGo();
    held.bytes += chunk.length;
    kept += chunk.length;
    chunks.push(chunk);
  });
  stream.on("error", letGo);
  stream.on("end", () => {
    const bytes = Buffer.concat(chunks);
    const fault = size > MOST_BYTES ? "size" : isFull ? "later" : null;
    take(fault ?? bytes).finally(letGo);
  });
}

/** Asked for where there is no key, so that it takes as long as where there is a wrong one. */
const NOBODYS = "0".repeat(32);

/** The key in an address, `anything+KEY@host` or `KEY@host`; null for none. */
export function keyOfAddress(address: string): string | null {
  const local = address.slice(0, Math.max(0, address.lastIndexOf("@")));
  const key = local.slice(local.lastIndexOf("+") + 1).replace(/^"|"$/g, "");
  return shortToken(key) === null ? null : key.toLowerCase();
}

/** The key of a login: the password, or the user without one. Never empty: no key is one that nobody has. */
function keyOfLogin({ user, password }: { user: string; password: string }): string {
  const key = (password === "" ? user : password).trim();
  const isKey = shortToken(key) !== null || parseToken(key)?.plane === "pti";
  return isKey ? key : NOBODYS;
}
