/** A QR code as lines for a terminal, two rows in each line; dark on light, whatever the terminal's colours. */
export async function qrLines(text: string): Promise<string[]> {
  const { encode } = await import("uqr");
  const { data } = encode(text, { border: 2 });
  const lines: string[] = [];
  for (let y = 0; y < data.length; y += 2) {
    const [upper = [], lower = []] = [data[y], data[y + 1]];
    const cells = upper.map((isDark, x) => CELLS[(isDark ? 2 : 0) + (lower[x] ? 1 : 0)]);
    lines.push(`\x1b[97;40m${cells.join("")}\x1b[0m`);
  }
  return lines;
}

/** Light is the foreground: both light, lower dark, upper dark, both dark. */
const CELLS = ["█", "▀", "▄", " "] as const;
