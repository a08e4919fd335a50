/**
 * The icons of the console as pictures, for a phone's home screen and for notifications: the shapes of src/web/browser/icon.svg, drawn
 * here so that nothing else has to be at hand.
 */
import { deflateSync } from "node:zlib";

const INK = [0x1c, 0x20, 0x24];
const PAPER = [0xfb, 0xfa, 0xf8];
const RED = [0x9c, 0x1c, 0x14];

/** Distances in a square of 32 by 32, below zero inside. */
const square = (x, y, radius) => {
  const across = Math.abs(x - 16) - 16 + radius;
  const along = Math.abs(y - 16) - 16 + radius;
  const outside = Math.hypot(Math.max(across, 0), Math.max(along, 0));
  return outside + Math.min(Math.max(across, along), 0) - radius;
};
const octagon = (x, y) => {
  const [across, along] = [Math.abs(x - 16), Math.abs(y - 16)];
  return Math.max(across - 10, along - 10, (across + along - 14.1) * Math.SQRT1_2);
};
const stroke = (x, y) => {
  const at = (from, to) => Math.hypot(x - 16, y - Math.min(Math.max(y, from), to)) - 1.6;
  return Math.min(at(10.5, 17), at(20.5, 22));
};

/** What covers a point, from below to above, as [distance, colour]; the badge is a shape that the phone colours itself. */
const LOOKS = {
  usual: (x, y) => [
    [square(x, y, 7), INK],
    [octagon(x, y), PAPER],
    [stroke(x, y), RED],
  ],
  // To its edges: the phone cuts its own shape out of it, of which the inner circle is sure to be left.
  maskable: (x, y) => [
    [-1, INK],
    [octagon(x, y), PAPER],
    [stroke(x, y), RED],
  ],
  badge: (x, y) => [[Math.max(octagon(x, y) - 4, -stroke(x, y)), [255, 255, 255]]],
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

/** All of them: `[{ name, bytes }]`. */
export const drawIcons = () =>
  ICONS.map(([name, size, look]) => ({ name, bytes: png(size, look) }));
