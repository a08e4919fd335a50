import type { SourceOptions } from "../../core/projects/source.ts";
import type { WatchedKeys } from "../../in/adapters/adapter.ts";
import { createChunks, inflatedGelf } from "../../in/adapters/gelf/datagram.ts";
import { gelfEvent } from "../../in/adapters/gelf/event.ts";
import { gelfFields } from "../../in/adapters/gelf.ts";
import { syslogEvent, tokenOfSyslog } from "../../in/adapters/syslog/event.ts";
import { createFrames, type Framed, type Frames } from "../../in/adapters/syslog/frames.ts";
import { readSyslog } from "../../in/adapters/syslog/message.ts";
import type { SenderClock } from "../../in/adapters/syslog/rfc3164.ts";
import type { IngestEvent } from "../../in/ingest/event.ts";
import type { StreamName } from "./port.ts";

/** A message that was read, before it is known whose it is. */
interface Incoming {
  token: string | null;
  event(of: { options: SourceOptions; watched: WatchedKeys }): IngestEvent;
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

function createSyslogFormat(clock?: SenderClock): Format {
  return {
    kind: "syslog",
    frames: () => createFrames(),
    datagram: (bytes) => ({ bytes, cut: false }),
    read({ bytes, cut }, { peer, at }) {
      const message = readSyslog(bytes, at, clock);
      return {
        token: tokenOfSyslog(message),
        event: (of) => syslogEvent(message, { ...of, peer, at, cut }),
      };
    },
  };
}

/** Graylog's own senders end a message with NUL alone: a line break may stand in it. */
const NUL_ENDED = { counts: false, ends: [0], begins: "{", most: 1024 * 1024 };

function createGelfFormat(): Format {
  const chunks = createChunks();
  return {
    kind: "gelf",
    frames: () => createFrames(NUL_ENDED),
    datagram(bytes, from) {
      const whole = chunks.add(bytes, from);
      return whole === null ? null : { bytes: whole, cut: false };
    },
    read({ bytes }, { peer }) {
      const payload = inflatedGelf(bytes);
      const fields = payload === null ? null : gelfFields(payload);
      return fields === null
        ? null
        : { token: null, event: ({ watched }) => gelfEvent(fields, { peer, watched }) };
    },
  };
}

/** What comes in by a port of this name; `clock`: what times without a zone mean. */
export const createFormat: Readonly<Record<StreamName, (clock?: SenderClock) => Format>> = {
  "syslog-udp": createSyslogFormat,
  "syslog-tcp": createSyslogFormat,
  "syslog-tls": createSyslogFormat,
  "gelf-udp": () => createGelfFormat(),
  "gelf-tcp": () => createGelfFormat(),
};
