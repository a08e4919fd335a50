/* Buttons that copy what an element holds: `data-copy` is its id. */

/** How long the button says that it did, milliseconds. */
const SAYS_MS = 2_000;

export function takeCopies(): void {
  document.addEventListener("click", ({ target }) => {
    const button = (target as Element).closest<HTMLElement>("[data-copy]");
    if (button) void copy(button);
  });
  // A token that is shown once is taken whole.
  document.addEventListener("focusin", ({ target }) => {
    if (target instanceof HTMLInputElement && target.readOnly) target.select();
  });
}

async function copy(button: HTMLElement): Promise<void> {
  const source = document.getElementById(button.dataset["copy"] ?? "");
  if (!source) return;
  const text = source instanceof HTMLInputElement ? source.value : source.textContent;
  const before = button.textContent;
  button.textContent = (await isCopied(text, source)) ? "Copied" : "Press Ctrl C";
  setTimeout(() => {
    button.textContent = before;
  }, SAYS_MS);
}

/** On plain http there is no clipboard: then what is selected is copied, as browsers long did. */
async function isCopied(text: string, source: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    if (source instanceof HTMLInputElement) source.select();
    else getSelection()?.selectAllChildren(source);
    return document.execCommand("copy");
  }
}
