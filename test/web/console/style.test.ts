import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";

const folder = join(import.meta.dirname, "../../../src/web/browser");
const tokens = readFileSync(join(folder, "tokens.css"), "utf8");

/** The colours of each block of the style sheet that sets them, in its order. */
function palettes(text: string): Record<string, string>[] {
  return [...text.matchAll(/\{([^{}]*--paper:[^{}]*)\}/g)].map(([, block = ""]) =>
    Object.fromEntries(
      [...block.matchAll(/--(\w+): (#[0-9a-f]{6});/g)].map(([, name, value]) => [name, value]),
    ),
  );
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

const TEXTS = ["ink", "soft", "link", "critical", "error", "warn", "good", "variable"];
const GROUNDS = ["paper", "card", "sunk"];

/** Sentences for pairs that can't be told apart well enough. */
function faint(palette: Record<string, string>): string[] {
  const pairs = GROUNDS.flatMap((ground) => [
    ...TEXTS.map((text) => ({ text, ground, least: 4.5 })),
    { text: "edge", ground, least: 3 },
  ]);
  // The primary button's words.
  pairs.push({ text: "paper", ground: "link", least: 4.5 });
  return pairs.flatMap(({ text, ground, least }) => {
    const ratio = contrast(palette[text] ?? "", palette[ground] ?? "");
    // A missing colour has no ratio.
    return ratio >= least ? [] : [`${text} on ${ground}: ${ratio.toFixed(2)}`];
  });
}

test("AC-V1: text has a contrast of 4.5 and edges of 3, light and dark", () => {
  const [light = {}, dark = {}, chosen = {}, ...others] = palettes(tokens);
  assert.deepEqual(others, []);
  assert.deepEqual(faint(light), []);
  assert.deepEqual(faint(dark), []);
  assert.deepEqual(chosen, dark, "dark by choice is dark by the system's setting");
  assert.equal(light["ink"], "#1c2024");
  assert.equal(contrast("#1c2024", "#fbfaf8").toFixed(1), "15.7");
});

test("a colour that is too faint is seen, and one that is missing", () => {
  const [light = {}] = palettes(tokens);
  assert.deepEqual(faint({ ...light, edge: "#999999" }), [
    "edge on paper: 2.73",
    "edge on card: 2.85",
    "edge on sunk: 2.50",
  ]);
  const { warn: _, ...rest } = light;
  assert.equal(faint(rest).length, 3);
});

test("colours are named in one file, but for paper", () => {
  for (const name of readdirSync(folder).filter((file) => file.endsWith(".css"))) {
    if (name === "tokens.css" || name === "media.css") continue;
    const text = readFileSync(join(folder, name), "utf8").replace(/\/\*[\s\S]*?\*\//g, "");
    assert.deepEqual(text.match(/#[0-9a-f]{3,8}\b/gi), null, name);
  }
});

test("no rule makes text smaller than 12.5 px, and none is fetched from elsewhere", () => {
  for (const name of readdirSync(folder).filter((file) => file.endsWith(".css"))) {
    const text = readFileSync(join(folder, name), "utf8");
    assert.doesNotMatch(text, /url\(|@font-face/, name);
    for (const [, size] of text.matchAll(/font-size: ([\d.]+)rem/g))
      assert.ok(Number(size) * 16 >= 12.5, `${name}: ${size}rem`);
  }
});
