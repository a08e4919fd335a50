/**
 * Archives of which every byte follows from what is put in: no times but the one given, no order but the one given.
 *
 * An entry is `{ name, mode, bytes }`; a name that ends in "/" is a folder and has no bytes. It is root's, or in a tar
 * archive of the user and group that `owner` says.
 */

/** A tar archive (POSIX.1-1988 ustar). `time`: seconds since the epoch, for every entry. */
export function tar(entries, time) {
  const parts = entries.flatMap(({ name, mode, owner = 0, bytes = Buffer.alloc(0) }) => [
    tarHeader({ name, mode, owner, size: bytes.length, time }),
    bytes,
    Buffer.alloc((512 - (bytes.length % 512)) % 512),
  ]);
  return Buffer.concat([...parts, Buffer.alloc(1024)]);
}

function tarHeader({ name, mode, owner, size, time }) {
  if (Buffer.byteLength(name) > 100) throw new Error(`${name} is too long for a tar header`);
  const header = Buffer.alloc(512);
  const octal = (value, at, length) =>
    header.write(`${value.toString(8).padStart(length - 1, "0")}\0`, at);
  header.write(name, 0);
  octal(mode, 100, 8);
  octal(owner, 108, 8);
  octal(owner, 116, 8);
  octal(size, 124, 12);
  octal(time, 136, 12);
  header.write(name.endsWith("/") ? "5" : "0", 156);
  header.write("ustar\u000000", 257);
  if (owner === 0) {
    header.write("root", 265);
    header.write("root", 297);
  }
  header.fill(" ", 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return header;
}

/** An ar archive, the outer shell of a Debian package (deb(5)). */
export function ar(entries, time) {
  const parts = entries.flatMap(({ name, mode, bytes }) => [
    Buffer.from(
      name.padEnd(16) +
        String(time).padEnd(12) +
        "0".padEnd(6) +
        "0".padEnd(6) +
        (0o100000 + mode).toString(8).padEnd(8) +
        String(bytes.length).padEnd(10) +
        "`\n",
      "latin1",
    ),
    bytes,
    Buffer.from(bytes.length % 2 === 1 ? "\n" : "", "latin1"),
  ]);
  return Buffer.concat([Buffer.from("!<arch>\n", "latin1"), ...parts]);
}

/** The folders above each entry, before it, once each: dpkg wants to see them all. */
export function withFolders(entries) {
  const seen = new Set();
  return entries.flatMap((entry) => {
    const above = entry.name.split("/").slice(0, -1);
    const folders = above.map((_, index) => `${above.slice(0, index + 1).join("/")}/`);
    const fresh = folders.filter((name) => name !== entry.name && !seen.has(name));
    for (const name of fresh) seen.add(name);
    return [...fresh.map((name) => ({ name, mode: 0o755 })), entry];
  });
}
