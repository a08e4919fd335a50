/* Where the focus goes when what had it is drawn anew, or is gone. */

/** To be called before a section changes; what it returns, after. The focus stays on the same thing, else on its heading. */
export function rememberFocus(section: Element): () => void {
  const had = document.activeElement;
  if (!(had instanceof HTMLElement) || had === document.body || !section.contains(had))
    return () => {};
  const { id } = section;
  const key = had.dataset["key"];
  return () => {
    const now = document.activeElement;
    if (now instanceof HTMLElement && now !== document.body && !now.matches(":disabled")) return;
    const stands = document.getElementById(id) ?? document.getElementById("main");
    const same =
      (had.id === "" ? null : document.getElementById(had.id)) ??
      (key === undefined ? null : stands?.querySelector(`[data-key="${CSS.escape(key)}"]`));
    if (same instanceof HTMLElement && !same.matches(":disabled") && same.checkVisibility())
      return same.focus({ preventScroll: true });
    focusHeading(stands);
  };
}

function focusHeading(section: Element | null | undefined): void {
  const heading =
    section?.querySelector<HTMLElement>("h1, h2, h3") ??
    document.querySelector<HTMLElement>("h1") ??
    document.getElementById("main");
  if (!heading) return;
  if (!heading.hasAttribute("tabindex")) heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

/** The first field that wasn't taken. */
export function focusWrong(): void {
  document.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
}
