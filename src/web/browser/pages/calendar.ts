/*
 * Choosing a stretch on a calendar: drag across its first row, or press "Pick on the calendar" and tap where it begins and
 * where it ends. Both only lead to the form that says what it would do; blocks are links to the same form.
 */

/** Seconds. */
const SNAP = 900;
/** From then on a press is a drag. */
const DRAG_PX = 6;

interface Picking {
  svg: SVGSVGElement;
  /** Where it began: pixels, and the instant there. */
  x: number;
  at: number;
  isDrag: boolean;
}

let pressed: Picking | null = null;
/** The drag's end is a click on whatever lies there, too. */
let wasDrag = false;
let tapped: "no" | "first" | Picking = "no";

const calendarOf = (target: EventTarget | null): SVGSVGElement | null =>
  target instanceof Element ? target.closest<SVGSVGElement>("svg[data-pick-to]") : null;

const number = (svg: SVGSVGElement, name: string): number => Number(svg.dataset[name]);

/** What is over can't be covered. */
const earliest = (): number =>
  Math.floor(Number(document.documentElement.dataset["now"]) / 60_000) * 60;

function instantAt(svg: SVGSVGElement, clientX: number): number {
  const { left, width } = svg.getBoundingClientRect();
  const share = (clientX - left) / width;
  const [from, until] = [number(svg, "from"), number(svg, "until")];
  const at = from + Math.min(1, Math.max(0, share)) * (until - from);
  return Math.max(earliest(), Math.round(at / SNAP) * SNAP);
}

/** Shows the stretch, which isn't asked for yet. */
function mark(svg: SVGSVGElement, one: number, other: number): void {
  const [from, until] = [number(svg, "from"), number(svg, "until")];
  const x = (at: number) => ((at - from) / (until - from)) * 100;
  let box = svg.querySelector(".cal-picked");
  if (box === null) {
    box = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    box.setAttribute("class", "cal-picked");
    box.setAttribute("height", "100%");
    svg.append(box);
  }
  box.setAttribute("x", `${x(Math.min(one, other))}%`);
  box.setAttribute("width", `${Math.max(0.2, Math.abs(x(one) - x(other)))}%`);
}

function forget(): void {
  for (const box of document.querySelectorAll(".cal-picked")) box.remove();
  pressed = null;
  tapped = "no";
  say("no");
}

const WORDS = {
  no: "Pick on the calendar",
  first: "Tap where it begins",
  last: "Tap where it ends",
};

function say(state: keyof typeof WORDS): void {
  for (const button of document.querySelectorAll("[data-pick]")) {
    button.textContent = WORDS[state];
    button.setAttribute("aria-pressed", String(state !== "no"));
  }
}

function go(svg: SVGSVGElement, one: number, other: number): void {
  const [from, until] = [Math.min(one, other), Math.max(one, other)];
  forget();
  if (until > from) location.assign(`${svg.dataset["pickTo"]}${from}-${until}#cover`);
}

document.addEventListener("pointerdown", ({ target, clientX, button }) => {
  wasDrag = false;
  const svg = calendarOf(target);
  if (svg === null || button !== 0) return;
  pressed = { svg, x: clientX, at: instantAt(svg, clientX), isDrag: false };
});

document.addEventListener("pointermove", ({ clientX }) => {
  if (pressed === null) return;
  pressed.isDrag ||= Math.abs(clientX - pressed.x) >= DRAG_PX;
  if (pressed.isDrag) mark(pressed.svg, pressed.at, instantAt(pressed.svg, clientX));
});

document.addEventListener("pointerup", ({ clientX }) => {
  if (pressed === null) return;
  const { svg, at, isDrag } = pressed;
  pressed = null;
  if (!isDrag) return;
  wasDrag = true;
  go(svg, at, instantAt(svg, clientX));
});

document.addEventListener("pointercancel", () => {
  if (pressed?.isDrag) forget();
  pressed = null;
});

// A block is a link, which browsers would carry off.
document.addEventListener("dragstart", (event) => {
  if (calendarOf(event.target) !== null) event.preventDefault();
});

document.addEventListener(
  "click",
  (event) => {
    if (event.target instanceof Element && event.target.closest("[data-pick]")) {
      const begins = tapped === "no";
      forget();
      if (begins) tapped = "first";
      return say(begins ? "first" : "no");
    }
    const svg = calendarOf(event.target);
    if (svg === null || (tapped === "no" && !wasDrag)) return;
    event.preventDefault();
    event.stopPropagation();
    if (tapped === "no") return;
    const at = instantAt(svg, event.clientX);
    if (tapped !== "first") return go(svg, tapped.at, at);
    tapped = { svg, x: event.clientX, at, isDrag: false };
    mark(svg, at, at);
    say("last");
  },
  { capture: true },
);

document.addEventListener("keydown", ({ key }) => {
  if (key === "Escape") forget();
});
