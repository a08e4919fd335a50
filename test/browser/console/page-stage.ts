import assert from "node:assert/strict";
import { BROWSER_PATIENCE_MS, type Tab } from "../tab.ts";
import type { Scene } from "./scene.ts";

/** A page made by hand, as the steps of the script's story use it. */
export interface PageStage {
  scene: Scene;
  tab: Tab;
  /** Waits until the expression is true in the page, so many milliseconds at most. */
  until(expression: string, ms?: number): Promise<void>;
  value(expression: string): Promise<unknown>;
  press(...keys: string[]): Promise<void>;
}

export type Step = (stage: PageStage) => Promise<void>;

export const focused = "document.activeElement.id";
export const text = (selector: string) =>
  `document.querySelector(${JSON.stringify(selector)})?.textContent`;
export const has = (selector: string) =>
  `document.querySelector(${JSON.stringify(selector)}) !== null`;

export function stageOf(scene: Scene, tab: Tab): PageStage {
  return {
    scene,
    tab,
    value: (expression) => tab.run(expression),
    async until(expression, ms = BROWSER_PATIENCE_MS) {
      const end = performance.now() + ms;
      while ((await tab.run(expression)) !== true) {
        if (performance.now() > end) assert.fail(`not within ${ms} ms: ${expression}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    async press(...keys) {
      for (const key of keys) await tab.page.keyboard.press(key);
    },
  };
}
