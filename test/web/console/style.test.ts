import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { PAGE_STYLE } from "../../../src/ground/page/style.ts";

const folder = join(import.meta.dirname, "../../../src/web/browser");
const tokens = readFileSync(join(folder, "tokens.css"), "utf8");

type Palette = Readonly<Record<string, string>>;

/** The colours of a style sheet as a light and as a dark page has them. */
function palettes(text: string): { light: Palette; dark: Palette } {
  const all = [...text.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);/g)];
  return {
    light: Object.fromEntries(all.map(([, name, light]) => [name, light])),
    dark: Object.fromEntries(all.map(([, name, , dark]) => [name, dark])),
  };
}

/** WCAG 2.2, relative luminance of `#rrggbb`. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

const WASHES = ["crit-w", "err-w", "warn-w", "good-w"];
const GROUNDS = ["paper", "card", "sunk"];
const HUES = [1, 2, 3, 4, 5, 6, 7, 8];

/** What stands on what: text with 4.5, borders of controls and fills of bars with 3. */
const PAIRS: readonly (readonly [text: string, grounds: readonly string[], least: number])[] = [
  ["ink", [...GROUNDS, ...WASHES, "accent-w"], 4.5],
  ["soft", [...GROUNDS, ...WASHES], 4.5],
  ["accent", [...GROUNDS, "crit-w", "accent-w"], 4.5],
  ["on", ["accent"], 4.5],
  ["crit", [...GROUNDS, "crit-w"], 4.5],
  ["err", [...GROUNDS, "err-w"], 4.5],
  ["warn", [...GROUNDS, "warn-w"], 4.5],
  ["good", [...GROUNDS, "good-w"], 4.5],
  // A toast, and the badge that counts.
  ["paper", ["ink"], 4.5],
  ["card", ["crit"], 4.5],
  ...HUES.map((hue) => [`on${hue}`, [`h${hue}`], 4.5] as const),
  ["edge", ["paper", "card"], 3],
  ["crit-f", ["card", "crit-w"], 3],
  ["err-f", ["card", "err-w"], 3],
  ["warn-f", ["card", "warn-w"], 3],
];

/** Sentences for pairs that can't be told apart well enough. */
function faint(palette: Palette): string[] {
  return PAIRS.flatMap(([text, grounds, least]) =>
    grounds.flatMap((ground) => {
      const ratio = contrast(palette[text] ?? "", palette[ground] ?? "");
      // A missing colour has no ratio.
      return ratio >= least ? [] : [`${text} on ${ground}: ${ratio.toFixed(2)}`];
    }),
  );
}

test("AC-L7: text has a contrast of 4.5, edges and fills of 3, light and dark", () => {
  const { light, dark } = palettes(tokens);
  assert.deepEqual(faint(light), []);
  assert.deepEqual(faint(dark), []);
  assert.equal(contrast(light["ink"] ?? "", light["paper"] ?? "").toFixed(1), "16.7");
  assert.equal(contrast(dark["soft"] ?? "", dark["sunk"] ?? "").toFixed(1), "6.5");
});

test("a colour that is too faint is seen, and one that is missing", () => {
  const { light } = palettes(tokens);
  assert.deepEqual(faint({ ...light, edge: "#999999" }), [
    "edge on paper: 2.71",
    "edge on card: 2.85",
  ]);
  const { warn: _, ...rest } = light;
  assert.equal(faint(rest).length, 4);
});

test("pages without the console's style sheet have its colours", () => {
  const { light, dark } = palettes(tokens);
  const own = [...PAGE_STYLE.matchAll(/--([\w-]+):light-dark\((#[0-9a-f]{6}),(#[0-9a-f]{6})\)/g)];
  assert.ok(own.length > 8);
  for (const [, name = "", ...colours] of own)
    assert.deepEqual(colours, [light[name], dark[name]], name);
});

test("colours are named in one file, but for paper", () => {
  for (const name of readdirSync(folder).filter((file) => file.endsWith(".css"))) {
    if (name === "tokens.css" || name === "media.css") continue;
    const text = readFileSync(join(folder, name), "utf8").replace(/\/\*[\s\S]*?\*\//g, "");
    assert.deepEqual(text.match(/#[0-9a-f]{3,8}\b/gi), null, name);
  }
});

test("no rule makes text smaller than 12 px, and none is fetched from elsewhere", () => {
  for (const name of readdirSync(folder).filter((file) => file.endsWith(".css"))) {
    const text = readFileSync(join(folder, name), "utf8");
    assert.doesNotMatch(text, /url\(|@font-face/, name);
    for (const [, size] of text.matchAll(/font-size: ([\d.]+)rem/g))
      assert.ok(Number(size) * 16 >= 12, `${name}: ${size}rem`);
  }
});
