import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** A conversation with an SMTP server, word by word, as no library would have it. */
export interface SmtpTalk {
  readonly socket: Socket;
  /** Everything that was answered so far. */
  readonly heard: string;
  /** Sends a line and gives the whole answer to it. */
  say(line: string): Promise<string>;
  /** Sends bytes and waits for nothing. */
  write(bytes: string | Buffer): void;
  /** The next whole answer. */
  answer(): Promise<string>;
  closed: Promise<unknown>;
  end(): void;
}

/** Opens one and waits for the greeting. */
export async function smtpTalk(to: {
  host: string;
  port: number;
  localAddress?: string;
}): Promise<SmtpTalk> {
  const socket = connect(to);
  socket.on("error", () => {});
  const closed = once(socket, "close");
  let heard = "";
  let rest = "";
  const waiting: ((text: string) => void)[] = [];
  const answers: string[] = [];
  socket.setEncoding("latin1").on("data", (text: string) => {
    heard += text;
    rest += text;
    for (;;) {
      const found = /^(?:\d{3}-[^\n]*\n)*\d{3}(?: [^\n]*)?\n/.exec(rest);
      if (found === null) break;
      rest = rest.slice(found[0].length);
      const next = waiting.shift();
      if (next) next(found[0]);
      else answers.push(found[0]);
    }
  });
  void closed.then(() => {
    for (const next of waiting) next("");
  });
  const answer = () =>
    new Promise<string>((resolve) => {
      const ready = answers.shift();
      if (ready !== undefined) resolve(ready);
      else if (socket.destroyed) resolve("");
      else waiting.push(resolve);
    });
  const talk: SmtpTalk = {
    socket,
    get heard() {
      return heard;
    },
    say(line) {
      socket.write(`${line}\r\n`);
      return answer();
    },
    write: (bytes) => void socket.write(bytes),
    answer,
    closed,
    end: () => socket.destroy(),
  };
  await answer();
  return talk;
}

/** Hands over one mail; the answer to its end, or to the first step that was refused. */
export async function handOver(
  talk: SmtpTalk,
  { from = "a@example.com", to, data }: { from?: string; to: string | string[]; data: string },
): Promise<string> {
  for (const line of ["EHLO me", `MAIL FROM:<${from}>`]) {
    const said = await talk.say(line);
    if (!said.startsWith("250")) return said;
  }
  for (const one of [to].flat()) {
    const said = await talk.say(`RCPT TO:<${one}>`);
    if (!said.startsWith("250")) return said;
  }
  const ready = await talk.say("DATA");
  if (!ready.startsWith("354")) return ready;
  return talk.say(`${data.replace(/^\./gm, "..")}\r\n.`);
}
