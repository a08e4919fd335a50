/**
 * The script of the pairing page. It copies the code from behind the `#` and clears the address, so that neither
 * history nor a shared screen shows it; it asks who invites; it makes the copy buttons work. Over plain http scripts
 * have no clipboard, hence the older way to copy.
 */
export const SCRIPT = `
(() => {
  const take = () => {
    const found = /[#&]code=([0-9a-f]{48})(?:&|$)/.exec(location.hash);
    if (location.hash !== "" || location.search !== "") history.replaceState(null, "", location.pathname);
    const field = document.getElementById("code");
    if (found === null || field === null) return;
    field.value = found[1];
    const email = document.getElementById("email");
    email.focus();
    look(found[1], email);
  };
  const look = async (code, email) => {
    const body = new URLSearchParams({ code, look: "yes" });
    const answer = await fetch(location.pathname, { method: "POST", body, headers: { accept: "text/html" } }).catch(() => null);
    const text = answer?.headers.get("x-invited");
    if (!text) return;
    const invited = JSON.parse(decodeURIComponent(text));
    document.getElementById("invited").textContent = invited.sentence;
    document.getElementById("title").textContent = invited.title;
    // The link had it: three fields are left.
    for (const id of ["code-field", "look"]) document.getElementById(id).hidden = true;
    if (invited.email === null || email.value !== "") return;
    email.value = invited.email;
    email.readOnly = true;
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
