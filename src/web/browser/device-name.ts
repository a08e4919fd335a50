/* What a browser is called in a list of devices. Pure. */

const BROWSERS: readonly (readonly [sign: RegExp, name: string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/(?:Chrome|CriOS|Chromium)\//, "Chrome"],
  [/\bSafari\//, "Safari"],
];

const SYSTEMS: readonly (readonly [sign: RegExp, name: string])[] = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b/, "Mac"],
  [/\bCrOS\b/, "Chromebook"],
  [/\bLinux\b/, "Linux"],
];

/** "Pixel 8 · Chrome", "iPhone · Safari", from what it calls itself. */
export function deviceName(agent: string): string {
  const first = (table: typeof BROWSERS, otherwise: string) =>
    table.find(([sign]) => sign.test(agent))?.[1] ?? otherwise;
  // Phones no longer say which they are: "K" stands for any.
  const model = /\bAndroid [\d.]+; ([^;)]+?)(?: Build\/[^;)]*)?[;)]/.exec(agent)?.[1] ?? "K";
  const isModel = model !== "K" && !/^(?:Mobile|Tablet|rv:.*)$/.test(model);
  return `${isModel ? model : first(SYSTEMS, "A device")} · ${first(BROWSERS, "a browser")}`;
}
