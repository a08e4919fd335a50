/**
 * What runs in the pairing page, if anything does: takes the code from behind the `#` and clears the address, so
 * that neither history nor a shared screen shows it, and makes the copy buttons work. Over http there is no
 * clipboard for scripts, so the old way stands behind the new one.
 */
export const SCRIPT = `
(() => {
  const take = () => {
    const found = /[#&]code=([0-9a-f]{48})(?:&|$)/.exec(location.hash);
    if (location.hash !== "" || location.search !== "") history.replaceState(null, "", location.pathname);
    const field = document.getElementById("code");
    if (found === null || field === null) return;
    field.value = found[1];
    document.getElementById("email").focus();
  };
  take();
  addEventListener("hashchange", take);
  const copy = async (element) => {
    getSelection().selectAllChildren(element);
    if (navigator.clipboard === undefined) return document.execCommand("copy");
    return navigator.clipboard.writeText(element.textContent).then(() => true, () => document.execCommand("copy"));
  };
  for (const button of document.querySelectorAll("button[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const done = await copy(document.getElementById(button.dataset.copy));
      button.textContent = done ? "Copied" : "Selected: copy it now";
    });
  }
})();
`;
