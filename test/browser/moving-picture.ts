/** A frame of a film: a WebP of one picture, and how long it stands. */
export interface Frame {
  webp: Buffer;
  width: number;
  height: number;
  ms: number;
}

const number = (value: number, bytes: 2 | 3 | 4): Buffer => {
  const out = Buffer.alloc(bytes);
  out.writeUIntLE(value, 0, bytes);
  return out;
};

function chunk(name: string, body: Buffer): Buffer {
  const odd = body.length % 2 === 1 ? Buffer.alloc(1) : Buffer.alloc(0);
  return Buffer.concat([Buffer.from(name), number(body.length, 4), body, odd]);
}

/** The chunks of a file that make up its picture. */
function pictureIn(webp: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 12; at < webp.length; ) {
    const name = webp.toString("latin1", at, at + 4);
    const end = at + 8 + webp.readUInt32LE(at + 4);
    const next = end + (end % 2);
    if (["ALPH", "VP8 ", "VP8L"].includes(name)) parts.push(webp.subarray(at, next));
    at = next;
  }
  return Buffer.concat(parts);
}

/** Frames of one size as an animated WebP that goes on for ever: the container alone, which no tool is needed for. */
export function movingPicture(frames: readonly Frame[]): Buffer {
  const { width = 1, height = 1 } = frames[0] ?? {};
  const size = (w: number, h: number) => [number(w - 1, 3), number(h - 1, 3)];
  const ANIMATED = 2;
  const head = chunk("VP8X", Buffer.concat([number(ANIMATED, 4), ...size(width, height)]));
  const loop = chunk("ANIM", Buffer.concat([number(0xffffffff, 4), number(0, 2)]));
  const shown = frames.map((frame) =>
    chunk(
      "ANMF",
      Buffer.concat([
        number(0, 3),
        number(0, 3),
        ...size(frame.width, frame.height),
        number(frame.ms, 3),
        // In the place of what stood there.
        Buffer.from([2]),
        pictureIn(frame.webp),
      ]),
    ),
  );
  const body = Buffer.concat([Buffer.from("WEBP"), head, loop, ...shown]);
  return Buffer.concat([Buffer.from("RIFF"), number(body.length, 4), body]);
}
