/** Section types and header offsets of a 64-bit little-endian ELF file (gabi, chapter 4). */
const SYMTAB = 2;
const SECTION = { name: 0, type: 4, offset: 24, size: 32, link: 40, info: 44, bytes: 64 };
const FILE = { sections: 40, sectionBytes: 58, sectionCount: 60, namesIndex: 62 };

/**
 * The executable without its symbol table and debug sections: what `strip` does, but the same on
 * every machine and for every processor. The runtime is a quarter smaller by it. Only what the
 * loader never maps is dropped, so program headers stay as they are.
 *
 * Returns the bytes unchanged when the file isn't laid out for it (not ELF, nothing to drop, or a
 * kept section behind a dropped one).
 */
export function stripSymbols(bytes) {
  if (bytes.readUInt32BE(0) !== 0x7f454c46 || bytes[4] !== 2 || bytes[5] !== 1) return bytes;
  const all = readSections(bytes);
  const names = all[bytes.readUInt16LE(FILE.namesIndex)];
  const nameOf = (section) => {
    const from = names.offset + section.header.readUInt32LE(SECTION.name);
    return bytes.toString("latin1", from, bytes.indexOf(0, from));
  };
  const symbols = all.find((section) => section.type === SYMTAB);
  const isDropped = (section) =>
    section === symbols ||
    (symbols && section === all[symbols.link]) ||
    nameOf(section).startsWith(".debug_");
  const dropped = all.filter(isDropped);
  const kept = all.filter((section) => !isDropped(section));
  const cut = Math.min(...dropped.map((section) => section.offset));
  const fits = kept.every((s) => s === names || s.offset + s.fileSize <= cut);
  return dropped.length > 0 && fits ? rewrite(bytes, { all, kept, names, cut }) : bytes;
}

function readSections(bytes) {
  const start = Number(bytes.readBigUInt64LE(FILE.sections));
  return Array.from({ length: bytes.readUInt16LE(FILE.sectionCount) }, (_, index) => {
    const at = start + index * SECTION.bytes;
    const header = Buffer.from(bytes.subarray(at, at + SECTION.bytes));
    const type = header.readUInt32LE(SECTION.type);
    const size = Number(header.readBigUInt64LE(SECTION.size));
    return {
      header,
      type,
      offset: Number(header.readBigUInt64LE(SECTION.offset)),
      size,
      fileSize: type === 8 ? 0 : size, // NOBITS takes no room in the file
      link: header.readUInt32LE(SECTION.link),
    };
  });
}

function rewrite(bytes, { all, kept, names, cut }) {
  const nameBytes = bytes.subarray(names.offset, names.offset + names.size);
  const padding = Buffer.alloc((8 - ((cut + nameBytes.length) % 8)) % 8);
  const head = Buffer.from(bytes.subarray(0, cut));
  const headersAt = cut + nameBytes.length + padding.length;
  head.writeBigUInt64LE(BigInt(headersAt), FILE.sections);
  head.writeUInt16LE(kept.length, FILE.sectionCount);
  head.writeUInt16LE(kept.indexOf(names), FILE.namesIndex);
  names.header.writeBigUInt64LE(BigInt(cut), SECTION.offset);
  for (const section of kept) {
    const to = kept.indexOf(all[section.link]);
    if (section.link !== 0) section.header.writeUInt32LE(Math.max(0, to), SECTION.link);
  }
  return Buffer.concat([head, nameBytes, padding, ...kept.map((section) => section.header)]);
}
