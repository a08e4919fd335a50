/**
 * A dialog with a heading, made here because nothing of a page needs one. It is closed by Esc, its button or a press
 * beside it, gives the focus back, and is then gone.
 */
export function openDialog(title: string, ...content: HTMLElement[]): HTMLDialogElement {
  const dialog = document.createElement("dialog");
  const heading = document.createElement("h2");
  heading.id = "dialog-title";
  heading.textContent = title;
  dialog.setAttribute("aria-labelledby", heading.id);
  const close = document.createElement("button");
  close.type = "button";
  close.className = "button second";
  close.textContent = "Close";
  close.addEventListener("click", () => dialog.close());
  dialog.append(heading, ...content, close);
  dialog.addEventListener("click", ({ target }) => {
    if (target === dialog) dialog.close();
  });
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
