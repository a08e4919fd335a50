/* A tap that comes twice mustn't press what came up where the first one was. */

/** How long a place rests after what stands there has changed, milliseconds. */
const RESTS_MS = 1_500;
/** As far as a finger wanders between two taps, CSS pixels. */
const NEAR_PX = 40;

let last = { x: 0, y: 0 };
let restsUntil = Number.NEGATIVE_INFINITY;

/** The page changes by what was pressed last. */
export function placeChanges(): void {
  restsUntil = performance.now() + RESTS_MS;
}

/**
 * Lets a second press at the place of the last one do nothing, for as long as that rests. Keys know what they press, and a
 * row that is selected by mistake is seen and costs nothing.
 */
export function takePresses(): void {
  document.addEventListener(
    "click",
    (event) => {
      if (event.detail === 0 || (event.target as Element).closest("label.pick")) return;
      const { clientX: x, clientY: y } = event;
      const isNear = Math.hypot(x - last.x, y - last.y) <= NEAR_PX;
      if (isNear && performance.now() < restsUntil) {
        event.preventDefault();
        event.stopImmediatePropagation();
        return;
      }
      last = { x, y };
    },
    { capture: true },
  );
}
