import {
  type Adapter,
  type Decoded,
  type InRequest,
  lineCaps,
  MOST_LINES,
  placeOfBox,
  UnreadableBody,
} from "./adapter.ts";
import { syslogEvent } from "./syslog/event.ts";
import { createFrames, type Framed } from "./syslog/frames.ts";
import { readSyslog } from "./syslog/message.ts";

/**
 * Syslog (contract §23). It arrives at ports of its own (src/web/intake). Over HTTP, as log drains send it, a body
 * holds messages as a stream does.
 */
export const syslog: Adapter = {
  kind: "syslog",
  title: "Syslog",
  identity: { title: [], labels: ["host"], named: "none" },
  room: "project",
  caps: lineCaps,
  decode,
  setUp: ({ base, shortToken }) => ({
    where: "/etc/rsyslog.d/box.conf on the machine that writes the log",
    paste: [
      'template(name="box" type="list") {',
      '  constant(value="<") property(name="pri") constant(value=">1 ")',
      '  property(name="timereported" dateFormat="rfc3339") constant(value=" ")',
      '  property(name="hostname") constant(value=" ") property(name="app-name") constant(value=" ")',
      `  property(name="procid") constant(value=" - [${shortToken}@41058] ")`,
      '  property(name="msg" droplastlf="on")',
      "}",
      `action(type="omfwd" target="${placeOfBox(base).hostname}" port="6514" protocol="tcp"`,
      '  TCP_Framing="octet-counted" template="box" action.resumeRetryCount="-1" action.resumeInterval="5"',
      '  queue.type="LinkedList" queue.filename="box" queue.maxDiskSpace="1g" queue.saveOnShutdown="on")',
    ].join("\n"),
    notes: [
      "Start the box with --syslog-tcp 0.0.0.0:6514, or --syslog-tls and the certificate of --tls-cert (rsyslog then needs its TLS driver, see its manual).",
      "Devices that can set no token (switches, NAS, printers) get a port for their source: --syslog-udp 0.0.0.0:514=PROJECT/SOURCE --allow-from 10.0.0.0/8. The box takes RFC 5424, RFC 3164 and what devices send under these names.",
      "One port for many of them: --syslog-udp 0.0.0.0:514 with --syslog-sender 10.1.0.0/16=PROJECT/SOURCE for each network. Over TLS, --syslog-sender sha256:FINGERPRINT=PROJECT/SOURCE names a client certificate. For devices in another time zone: --syslog-zone.",
      "Try it with logger: logger -n HOST -P 514 -d -p daemon.err 'disk is full'. It becomes an event of level 400, with host, app and facility as keys.",
      "Docker: docker run --log-driver syslog --log-opt syslog-address=tcp://HOST:514. Docker sends every line of stderr as an error, so for containers the box uses the level in the text.",
      "While the box is off, rsyslog keeps what fits into this queue and sends it later. What is sent over UDP is lost. TCP has no answer: what was under way when the box was killed is lost, too.",
    ],
  }),
};

/** Bytes that are read at once, as at a port. */
const PIECE = 65_536;

function decode(request: InRequest): Decoded {
  if (request.method !== "POST") throw new UnreadableBody({ why: "method", allowed: ["POST"] });
  if (request.path !== "" && request.path !== "/") throw new UnreadableBody({ why: "not_found" });
  const stream = createFrames();
  const frames: Framed[] = [];
  for (let at = 0; at < request.body.length; at += PIECE) {
    for (const frame of stream.push(request.body.subarray(at, at + PIECE))) frames.push(frame);
    if (frames.length > MOST_LINES) throw new UnreadableBody({ why: "too_large" });
  }
  frames.push(...stream.push(Buffer.from("\n")));
  if (frames.length === 0 && stream.broken)
    throw new UnreadableBody("The body begins with a bad count.");
  const events = frames.map(({ bytes, cut }) =>
    syslogEvent(readSyslog(bytes, request.at), {
      options: request.options,
      watched: request.watched,
      peer: "",
      at: request.at,
      cut,
    }),
  );
  const rejected = stream.broken ? [{ reason: "a bad count: what is behind it is lost" }] : [];
  return { events, rejected, answer: () => ({ status: 204, body: "" }) };
}
