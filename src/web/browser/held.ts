/* Sections that somebody is at work in, and that a change must leave alone. */

/** Sections whose form came back: what stands in their fields was typed, though the box wrote it. */
const returned = new WeakSet<Element>();

export function markReturned(section: Element, isReturned: boolean): void {
  if (isReturned) returned.add(section);
  else returned.delete(section);
}

/** Whether somebody edits a field in it or has a menu open. What belongs to `form`, which is just answered, doesn't count. */
export function isAtWorkIn(section: Element, form: HTMLFormElement | null): boolean {
  if (section.querySelector("details.menu[open]")) return true;
  if (form === null && returned.has(section)) return true;
  const fields = section.querySelectorAll<Field>("input, textarea, select");
  return [...fields].some((field) => field.form !== form && isEdited(field));
}

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/** Whether a field holds something else than it was drawn with. A row's box for selecting is no field. */
function isEdited(field: Field): boolean {
  if (field instanceof HTMLSelectElement) {
    const options = [...field.options];
    const drawn = options.filter((option) => option.defaultSelected);
    // Without one that is marked, a list for one choice shows its first.
    if (drawn.length === 0 && !field.multiple) return field.selectedIndex > 0;
    return options.some((option) => option.selected !== option.defaultSelected);
  }
  if (field.type === "checkbox" || field.type === "radio")
    return !isPick(field) && (field as HTMLInputElement).checked !== isDrawnChecked(field);
  return field.type !== "hidden" && field.value !== field.defaultValue;
}

const isDrawnChecked = (field: Field): boolean => (field as HTMLInputElement).defaultChecked;

const isPick = (field: Element): boolean => field.closest("[data-row]") !== null;
