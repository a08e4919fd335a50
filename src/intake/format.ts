import { syslogEvent, tokenOfSyslog } from "../adapters/syslog/event.ts";
import { createFrames, type Framed, type Frames } from "../adapters/syslog/frames.ts";
import { readSyslog } from "../adapters/syslog/message.ts";
import type { IngestEvent } from "../ingest/event.ts";
import type { SourceOptions } from "../projects/source.ts";
import type { PortName } from "./port.ts";

/** A message that was read, before it is known whose it is. */
export interface Incoming {
  token: string | null;
  event(options: SourceOptions): IngestEvent;
}

/** How one kind of sender's bytes become messages. Nothing here throws, whatever the bytes. */
export interface Format {
  /** Of the sources it belongs to. */
  kind: string;
  /** Finds the messages in a connection's bytes. */
  frames(): Frames;
  /** The message that a datagram is or completes; null while parts are missing, or for none. */
  datagram(bytes: Buffer, from: { peer: string; mono: number }): Framed | null;
  /** `at`: Unix seconds. null for what isn't of this format. */
  read(frame: Framed, from: { peer: string; at: number }): Incoming | null;
}

function createSyslogFormat(): Format {
  return {
    kind: "syslog",
    frames: () => createFrames(),
    datagram: (bytes) => ({ bytes, cut: false }),
    read({ bytes, cut }, { peer, at }) {
      const message = readSyslog(bytes, at);
      return {
        token: tokenOfSyslog(message),
        event: (options) => syslogEvent(message, { options, peer, at, cut }),
      };
    },
  };
}

/** What comes in by a port of this name. */
export const createFormat: Readonly<Record<PortName, () => Format>> = {
  "syslog-udp": createSyslogFormat,
  "syslog-tcp": createSyslogFormat,
  "syslog-tls": createSyslogFormat,
};
