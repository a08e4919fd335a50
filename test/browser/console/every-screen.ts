/** Every screen of a box that people have lived in, in every way of seeing it: by the list of screens alone. */
import assert from "node:assert/strict";
import type { Browser, Page } from "playwright-core";
import { openPages } from "../../../src/web/console/open-pages.ts";
import { furnish, type House } from "../../support/house.ts";
import { startReceiver } from "../../support/receiver.ts";
import { settle } from "../../support/until.ts";
import { screensOf } from "../screens-of.ts";
import { COLOURS, findings, SIZES, type Tab, withoutStatus } from "../tab.ts";
import { isWhole } from "../whole.ts";
import { crooked, cutWords } from "./crooked.ts";
import { enlarge, onStage, type Stage, unrest } from "./stage.ts";

/** The longest messages that are taken, in one word and in many. */
async function longMessages({ box, tokens }: House): Promise<string[]> {
  const ids: string[] = [];
  for (const message of [`x${"y".repeat(4095)}`, `long ${"word ".repeat(818)}`.slice(0, 4096)]) {
    const event = { message, level: 500, keys: { provider: "p".repeat(256) } };
    assert.equal((await box.ingest(tokens.shop, event)).status, 202);
    await settle(box);
    ids.push(String(box.tenant.store.sql("SELECT max(id) FROM alerts").pluck().get()));
  }
  return ids;
}

/** Beside light: in what colours, and whether in larger text the checker looks once more. */
interface Looks {
  ways: Readonly<Record<string, Parameters<Page["emulateMedia"]>[0]>>;
  isLarge: boolean;
}

const DARK = { dark: { colorScheme: "dark" } } as const;
const FORCED = { "forced colours": { colorScheme: "light", forcedColors: "active" } } as const;
/**
 * By width. Colours and the size of what is pressed hang on the element, hardly on the width: the suite looks at each of them at one.
 * At the narrowest the checker's rules see nothing new.
 */
const looksAt = (width: number): Looks | null => {
  if (width === 320) return null;
  if (isWhole) return { ways: { ...DARK, ...FORCED }, isLarge: true };
  return width < 640 ? { ways: DARK, isLarge: true } : { ways: FORCED, isLarge: false };
};

/** One look at the page that is shown, in its colours and with larger text; what isn't right of it. */
async function looked(tab: Tab, url: string, looks: Looks | null): Promise<string[]> {
  const { page } = tab;
  const found: string[] = [];
  const add = (look: string, faults: readonly string[]) =>
    found.push(...withoutStatus(faults).map((fault) => `${look}: ${fault}`));
  add("light", [...(await unrest(tab, url)), ...(await crooked(tab))]);
  tab.noise.length = 0;
  if (looks === null) return found;
  add("light", await findings(tab));
  for (const [way, media] of Object.entries(looks.ways)) {
    await page.emulateMedia(media);
    add(way, await findings(tab, COLOURS));
  }
  await page.emulateMedia({ colorScheme: "light", forcedColors: "none" });
  await enlarge(tab);
  add("200 % text", [...(await unrest(tab, url)), ...(await cutWords(tab))]);
  if (looks.isLarge) add("200 % text", await findings(tab, SIZES));
  return found;
}

/** A way back from no provider is refused, with a page. */
const wantedOf = (name: string) =>
  name === "missing" ? 404 : name.startsWith("/signin/oidc") ? 401 : 200;

async function everyLook(
  { box, visit }: Stage,
  house: House,
  widths: readonly number[],
): Promise<void> {
  const long = await longMessages(house);
  const screens = {
    ...screensOf(house),
    ...Object.fromEntries(openPages.map(({ path }) => [path, path])),
    ...Object.fromEntries(long.map((id, i) => [`long ${i + 1}`, `/a/${id}`])),
    ...Object.fromEntries(long.map((id, i) => [`long ${i + 1}, lines`, `/a/${id}/lines`])),
  };
  const faults: string[] = [];
  for (const width of widths) {
    const options = { viewport: { width, height: 740 }, colorScheme: "light" } as const;
    const tab = await visit("/alerts", { options });
    for (const [name, path] of Object.entries(screens)) {
      tab.noise.length = 0;
      const answer = await tab.page.goto(box.url + path);
      if (answer?.status() !== wantedOf(name)) faults.push(`${name}: ${answer?.status()}`);
      const found = await looked(tab, box.url, looksAt(width));
      faults.push(...found.map((fault) => `${name}, ${width} px, ${fault}`));
    }
    await tab.close();
  }
  assert.equal(faults.length, 0, `\n${faults.join("\n")}`);
  console.log(`  ok ${Object.keys(screens).length} screens, ${widths.join(" and ")} px`);
}

/** On a usual phone the first alert begins within 230 px, and three are whole above the navigation. */
async function threeCards({ visit }: Stage): Promise<void> {
  const options = { viewport: { width: 390, height: 844 } } as const;
  const tab = await visit("/alerts", { options });
  const edges = (place: string) =>
    tab.run(
      `[...document.querySelectorAll("${place}")].map((one) => { const { top, bottom } = one.getBoundingClientRect(); return [top, bottom]; })`,
    ) as Promise<[top: number, bottom: number][]>;
  const cards = await edges("main li.row");
  const [[end = 0] = []] = await edges(".nav");
  assert.ok((cards[0]?.[0] ?? 844) <= 230, `the first card at ${cards[0]?.[0]} px`);
  const whole = cards.filter(([, bottom]) => bottom <= end).length;
  assert.ok(whole >= 3, `${whole} whole cards above ${end} px`);
  await tab.close();
}

/** Nothing to find for an accessibility checker, nothing said, nothing moved, nothing asked of elsewhere, nothing too wide. */
async function everyScreenAt(
  browser: Browser,
  widths: readonly number[],
  before: (stage: Stage) => Promise<void> = async () => {},
): Promise<void> {
  const receiver = await startReceiver();
  try {
    await onStage(browser, async (stage) => {
      const house = await furnish(stage.box, receiver);
      await before(stage);
      await everyLook(stage, house, widths);
    });
  } finally {
    await receiver.close();
  }
}

/** Two stories, since each takes as long as any other. */
export const everyScreenOnAPhone = (browser: Browser) =>
  everyScreenAt(browser, [320, 360], threeCards);
export const everyScreenOnADesk = (browser: Browser) => everyScreenAt(browser, [1280]);
