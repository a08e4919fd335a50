import { html, type Markup } from "../../../ground/kit/html.ts";

/** Drawings of 24 by 24, of lines alone, in the colour of the text. */
const PATHS = {
  bell: "M6 16.5V11a6 6 0 0 1 12 0v5.5l1.5 1.5h-15zM10 21h4",
  "bell-ring":
    "M7 16.5V11.5a5 5 0 0 1 10 0v5l1.5 1.5h-13zM10.5 21h3M3 9.5A7.5 7.5 0 0 1 6 4.5M21 9.5a7.5 7.5 0 0 0-3-5",
  "bell-off": "M18 13v-2a6 6 0 0 0-9.4-4.9M6.3 9.5 6 11v5.5L4.5 18H17M10 21h4M4 4l16 16",
  calendar:
    "M6 5h12a2 2 0 0 1 2 2v11a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2V7a2 2 0 0 1 2-2zM4 10h16M8.5 3v4M15.5 3v4",
  folder: "M4 7a2 2 0 0 1 2-2h3.5l2 2.5H18a2 2 0 0 1 2 2V17a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2z",
  pulse: "M3 12h4l2.5-6 5 12 2.5-6h4",
  bars: "M5 20v-7M12 20V4M19 20V9",
  people:
    "M9 11.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 20c0-3.6 2.9-5.5 6.5-5.5s6.5 1.9 6.5 5.5M16 4.8a3.3 3.3 0 0 1 0 6.4M18 14.8c2.2.7 3.5 2.5 3.5 5.2",
  person: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4.5 20.5c0-4 3.4-6 7.5-6s7.5 2 7.5 6",
  system:
    "M5 5h14a1 1 0 0 1 1 1v4a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1zM5 13h14a1 1 0 0 1 1 1v4a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1v-4a1 1 0 0 1 1-1zM8 8h.01M8 16h.01M12 8h4M12 16h4",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM20 20l-4-4",
  filter: "M4 7h16M7 12h10M10 17h4",
  more: "M6 12a1 1 0 1 1-2 0 1 1 0 0 1 2 0zM13 12a1 1 0 1 1-2 0 1 1 0 0 1 2 0zM20 12a1 1 0 1 1-2 0 1 1 0 0 1 2 0z",
  back: "M15 5l-7 7 7 7",
  next: "M9 5l7 7-7 7",
  down: "M5 9l7 7 7-7",
  close: "M6 6l12 12M18 6L6 18",
  check: "M5 12.5l4.5 4.5L19 7.5",
  seen: "M2.5 12.5L7 17l8.5-9M11.5 16l1 1L21.5 8",
  send: "M20.5 3.5L10 14M20.5 3.5L14 20.5l-4-6.5-6.5-4z",
  clock: "M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17zM12 7.5V12l3 2",
  ladder: "M8 3v18M16 3v18M8 7.5h8M8 12h8M8 16.5h8",
  phone: "M8.5 2.5h7a2 2 0 0 1 2 2v15a2 2 0 0 1-2 2h-7a2 2 0 0 1-2-2v-15a2 2 0 0 1 2-2zM11 18.5h2",
  call: "M6 3.5h3l1.5 4.5-2 1.5a11 11 0 0 0 6 6l1.5-2 4.5 1.5v3a2 2 0 0 1-2.2 2A16.5 16.5 0 0 1 4 5.7 2 2 0 0 1 6 3.5z",
  mail: "M5 5.5h14a1.5 1.5 0 0 1 1.5 1.5v10a1.5 1.5 0 0 1-1.5 1.5H5A1.5 1.5 0 0 1 3.5 17V7A1.5 1.5 0 0 1 5 5.5zM4 7l8 6 8-6",
  hash: "M9.5 4l-2 16M16.5 4l-2 16M4.5 9h16M3.5 15h16",
  link: "M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.7-5.7l-1 1M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.7 5.7l1-1",
  copy: "M10 8.5h8a1.5 1.5 0 0 1 1.5 1.5v8.5A1.5 1.5 0 0 1 18 20h-8a1.5 1.5 0 0 1-1.5-1.5V10A1.5 1.5 0 0 1 10 8.5zM5.5 15.5A1.5 1.5 0 0 1 4 14V5.5A1.5 1.5 0 0 1 5.5 4H14a1.5 1.5 0 0 1 1.5 1.5",
  play: "M7 4.5l12 7.5-12 7.5z",
  plus: "M12 5v14M5 12h14",
  edit: "M4 20l.8-4L16 4.8a1.7 1.7 0 0 1 2.4 0l.8.8a1.7 1.7 0 0 1 0 2.4L8 19.2z",
  warn: "M12 4L2.8 19.5h18.4zM12 10v4.5M12 17h.01",
  info: "M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17zM12 11v5.5M12 8h.01",
  swap: "M7 4L3.5 7.5 7 11M3.5 7.5H17M17 13l3.5 3.5L17 20M20.5 16.5H7",
  proof: "M12 3l7.5 2.8V11c0 4.6-3.1 8-7.5 10-4.4-2-7.5-5.4-7.5-10V5.8zM8.5 12l2.5 2.5 4.5-5",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z",
  book: "M5 4.5h9.5A3.5 3.5 0 0 1 18 8v12H8a3 3 0 0 1-3-3zM5 17a3 3 0 0 1 3-3h10",
  note: "M5 4h14v11l-5 5H5zM14 20v-5h5M8.5 8.5h7M8.5 12h4",
  invite:
    "M10 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM3 20.5c0-3.8 3-5.8 7-5.8 1.5 0 2.9.3 4 .9M18 14.5v6M15 17.5h6",
  up: "M12 19V5M6 11l6-6 6 6",
  out: "M13 5h6v6M19 5l-9 9M17 14v4a1.5 1.5 0 0 1-1.5 1.5H6.5A1.5 1.5 0 0 1 5 18V8.5A1.5 1.5 0 0 1 6.5 7H10",
  lock: "M6.5 11h11a1.5 1.5 0 0 1 1.5 1.5V19a1.5 1.5 0 0 1-1.5 1.5h-11A1.5 1.5 0 0 1 5 19v-6.5A1.5 1.5 0 0 1 6.5 11zM8 11V8a4 4 0 0 1 8 0v3",
  report: "M4 10v4h3.5l7 4.5v-13L7.5 10zM18 9.5a4 4 0 0 1 0 5M8 14.5l1.2 5h2.3",
  refresh: "M20 5v5h-5M4 19v-5h5M19 10a7.5 7.5 0 0 0-13.3-2.5M5 14a7.5 7.5 0 0 0 13.3 2.5",
  undo: "M8.5 5L4 9.5 8.5 14M4 9.5h10a5.5 5.5 0 0 1 0 11H9",
  offline:
    "M4 4l16 16M2.5 10a14 14 0 0 1 4-2.8M10.5 5.6A14 14 0 0 1 21.5 10M6 13.5a9 9 0 0 1 4-2.2M15 12a9 9 0 0 1 3 1.5M9.5 17a4 4 0 0 1 5 0M12 20h.01",
  key: "M8 19.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM11.5 12L20 3.5M16 7.5l3 3",
  assign: "M10 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM3 20.5c0-3.8 3-5.8 7-5.8M14 17.5h7M18 14.5l3 3-3 3",
  rule: "M4 6h9M4 12h6M4 18h9M16 9l3 3-3 3M13 12h6",
} as const;

export type IconName = keyof typeof PATHS;

/** Every name there is. */
export const ICON_NAMES = Object.keys(PATHS) as readonly IconName[];

/** A drawing beside the words that say the same. `small`: for text of 13 pixels. */
export function icon(name: IconName, size: "usual" | "small" | "large" = "usual"): Markup {
  const by = { usual: "", small: " i-small", large: " i-large" }[size];
  return html`<svg class="i${by}" viewBox="0 0 24 24" aria-hidden="true"><path d="${PATHS[name]}"/></svg>`;
}
