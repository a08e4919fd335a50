import type SMTPConnection from "nodemailer/lib/smtp-connection";
import type { Egress } from "../../../ground/kit/egress.ts";
import { egressErrorOf } from "../../../ground/kit/egress-error.ts";

/** A server that takes mail, and how it is spoken to. */
export interface Mailbox {
  host: string;
  port: number;
  /** `starttls` is required, never only tried: who is between could take the offer away. */
  tls: "starttls" | "implicit" | "none";
  login: { user: string; password: string } | null;
}

export interface Mail {
  from: string;
  to: string;
  /** The message as it is sent, headers and all. */
  bytes: Buffer;
}

/** Limits for the greeting, for silence, and for all of it. */
const GREETING_MS = 10_000;
const SILENCE_MS = 15_000;
const ALL_MS = 30_000;
const LONGEST_REPLY = 16_384;

/**
 * Hands a mail to the server and returns the number it took it with. The library gets an open connection and the name
 * only for its certificate, so it neither looks names up nor connects. Rejects with an EgressFault, or what `mailError` reads.
 */
export function submit(egress: Egress, server: Mailbox, mail: Mail): Promise<number> {
  return speak(egress, server, {
    from: mail.from,
    async say(connection) {
      const envelope = { from: mail.from, to: [mail.to] };
      const taken = await step<{ response?: string }>(connection, (done) =>
        connection.send(envelope, mail.bytes, done),
      );
      return Number.parseInt(taken?.response ?? "250", 10) || 250;
    },
  });
}

/** Connects and logs in as `submit` does, and leaves. */
export function greet(egress: Egress, server: Mailbox, from: string): Promise<number> {
  return speak(egress, server, { from, say: async () => 220 });
}

async function speak(
  egress: Egress,
  { host, port, tls, login }: Mailbox,
  { from, say }: { from: string; say(connection: SMTPConnection): Promise<number> },
): Promise<number> {
  const { default: Connection } = await import("nodemailer/lib/smtp-connection");
  const { socket, ca } = await egress.dial({ host, port, lifeMs: ALL_MS });
  const connection = new Connection({
    host,
    port,
    connection: socket,
    secure: tls === "implicit",
    requireTLS: tls === "starttls",
    ignoreTLS: tls === "none",
    connectionTimeout: GREETING_MS,
    greetingTimeout: GREETING_MS,
    socketTimeout: SILENCE_MS,
    name: heloName(from),
    maxResponseSize: LONGEST_REPLY,
    logger: false,
    tls: { minVersion: "TLSv1.2", ...(ca && { ca }) },
  });
  try {
    await step(connection, (done) => connection.connect(done));
    if (login !== null) {
      const { user, password: pass } = login;
      await step(connection, (done) => connection.login({ user, pass }, done));
    }
    const status = await say(connection);
    connection.quit();
    return status;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** One step of the conversation; an error or the end of the connection ends it, too. */
function step<T>(
  connection: SMTPConnection,
  take: (done: (error?: Error | null, result?: T) => void) => void,
): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    connection.on("error", reject);
    connection.once("end", () => reject(Object.assign(new Error("closed"), { code: "ECLOSED" })));
    take((error, result) => (error ? reject(error) : resolve(result)));
  });
}

/** The sender's domain: a box has no name of its own that a server could look up. */
function heloName(from: string): string {
  const domain = from.slice(from.lastIndexOf("@") + 1);
  return /^[A-Za-z0-9.-]+$/.test(domain) ? domain : "[127.0.0.1]";
}

/** What the library reports, as far as it is known. */
interface Fault {
  code?: string;
  /** What Node said, where the library has put a word of its own in its place. */
  originalCode?: string;
  responseCode?: number;
  response?: string;
  command?: string;
}

/** `smtp 550 5.1.1 after RCPT TO`, or a word of the closed list for what went wrong below it. */
export function mailError(error: unknown): string {
  const { code = "", originalCode, responseCode, response = "", command = "" } = error as Fault;
  if (responseCode) {
    const fine = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(response)?.[1];
    const after = /^[A-Z][A-Z0-9 -]{1,20}$/.test(command) ? `after ${command}` : "";
    return ["smtp", responseCode, fine, after].filter(Boolean).join(" ");
  }
  if (code === "ETIMEDOUT") return "timeout";
  if (code === "ECLOSED" || code === "ECONNECTION") return "closed";
  if (code === "EPROTOCOL") return "bad_response";
  const known = egressErrorOf({ code: originalCode ?? code });
  return known === "network" && code === "ETLS" ? "tls: handshake" : known;
}
