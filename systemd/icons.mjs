/**
 * The icons of the console as pictures, for a phone's home screen and for notifications: the shapes of src/web/browser/icon.svg, drawn
 * here so that nothing else has to be at hand.
 */
import { deflateSync } from "node:zlib";

const INK = [0x17, 0x19, 0x1c];
const WHITE = [0xff, 0xff, 0xff];
const GREEN = [0x7f, 0xd3, 0xa0];

/** Distances in a square of 32 by 32, below zero inside. */
const square = (x, y, radius) => {
  const across = Math.abs(x - 16) - 16 + radius;
  const along = Math.abs(y - 16) - 16 + radius;
  const outside = Math.hypot(Math.max(across, 0), Math.max(along, 0));
  return outside + Math.min(Math.max(across, along), 0) - radius;
};

/** The mark is drawn in 24 by 24, and so large in the square. */
const SCALE = 0.92;
const inMark = (x, y) => [(x - 4.96) / SCALE, (y - 4.96) / SCALE];

/** An open box: two sides, a floor and the two corners between them, 2.5 wide. */
const box = (x, y) => {
  const [across, down] = inMark(x, y);
  // Both halves are alike.
  const left = across > 12 ? 24 - across : across;
  const side = Math.hypot(left - 4.5, down - Math.min(Math.max(down, 9.5), 17));
  const floor = Math.hypot(Math.min(left, 8) === left ? left - 8 : 0, down - 20.5);
  const isCorner = left < 8 && down > 17;
  const corner = isCorner ? Math.abs(Math.hypot(left - 8, down - 17) - 3.5) : side;
  return (Math.min(side, floor, corner) - 1.25) * SCALE;
};
const dot = (x, y) => {
  const [across, down] = inMark(x, y);
  return (Math.hypot(across - 12, down - 8) - 4) * SCALE;
};

/** What covers a point, from below to above, as [distance, colour]; the badge is a shape that the phone colours itself. */
const LOOKS = {
  usual: (x, y) => [
    [square(x, y, 7), INK],
    [box(x, y), WHITE],
    [dot(x, y), GREEN],
  ],
  // To its edges: the phone cuts its own shape out of it, of which the inner circle is sure to be left.
  maskable: (x, y) => [
    [-1, INK],
    [box(x, y), WHITE],
    [dot(x, y), GREEN],
  ],
  badge: (x, y) => [[Math.min(box(x, y), dot(x, y)), WHITE]],
};

/** Name, size in pixels and look of each. */
const ICONS = [
  ["icon-192.png", 192, LOOKS.usual],
  ["icon-512.png", 512, LOOKS.usual],
  ["maskable-512.png", 512, LOOKS.maskable],
  ["badge-96.png", 96, LOOKS.badge],
];

function pixel(layers, size) {
  let [red, green, blue, alpha] = [0, 0, 0, 0];
  for (const [distance, colour] of layers) {
    // Half a pixel to each side of an edge is a mixture.
    const cover = Math.min(Math.max(0.5 - (distance * size) / 32, 0), 1);
    const sum = cover + alpha * (1 - cover);
    if (sum === 0) continue;
    const mixed = (before, own) => (own * cover + before * alpha * (1 - cover)) / sum;
    [red, green, blue] = [mixed(red, colour[0]), mixed(green, colour[1]), mixed(blue, colour[2])];
    alpha = sum;
  }
  return [red, green, blue, alpha * 255].map(Math.round);
}

function rows(size, look) {
  const bytes = Buffer.alloc(size * (1 + size * 4));
  for (let y = 0; y < size; y += 1)
    for (let x = 0; x < size; x += 1) {
      const layers = look(((x + 0.5) * 32) / size, ((y + 0.5) * 32) / size);
      bytes.set(pixel(layers, size), y * (1 + size * 4) + 1 + x * 4);
    }
  return bytes;
}

/** PNG, second edition, section 5: a chunk with its length and its check. */
function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const head = Buffer.alloc(4);
  head.writeUInt32BE(data.length);
  const tail = Buffer.alloc(4);
  tail.writeUInt32BE(crc(body));
  return Buffer.concat([head, body, tail]);
}

function crc(bytes) {
  let rest = 0xffffffff;
  for (const byte of bytes) {
    rest ^= byte;
    for (let bit = 0; bit < 8; bit += 1) rest = (rest >>> 1) ^ (rest & 1 ? 0xedb88320 : 0);
  }
  return (rest ^ 0xffffffff) >>> 0;
}

function png(size, look) {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(size, 0);
  head.writeUInt32BE(size, 4);
  // 8 bits each of red, green, blue and alpha.
  head.set([8, 6], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(rows(size, look), { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

let drawn;

/** All of them: `[{ name, bytes }]`, drawn once. */
export const drawIcons = () => {
  drawn ??= ICONS.map(([name, size, look]) => ({ name, bytes: png(size, look) }));
  return drawn;
};
