import { hash } from "node:crypto";

/**
 * The style of all pages: made for phones first, light or dark as the reader's system is set, plain on paper. Long
 * words break, so nothing scrolls sideways. Every pair of colours has a contrast of at least 4.5. A page's own rules
 * come after these.
 */
export const PAGE_STYLE = `
:root{color-scheme:light dark;--paper:light-dark(#faf9f7,#101215);--card:light-dark(#ffffff,#191c20);--ink:light-dark(#17191c,#eceae6);
--soft:light-dark(#5a6067,#a5abb2);--line:light-dark(#e5e2dc,#2d3238);--edge:light-dark(#868c93,#7c848c);--sunk:light-dark(#f1efeb,#23272c);
--accent:light-dark(#1f5fbf,#8ab8ff);--on:light-dark(#ffffff,#0b1220);--crit:light-dark(#b3161b,#ff9b93);--err:light-dark(#a04100,#ffb27d);--warn:light-dark(#755000,#ecc268);--good:light-dark(#17693c,#7fd3a0)}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);overflow-wrap:anywhere;
font:1.0625rem/1.6 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
main,footer{max-width:42rem;margin:0 auto;padding:0 1.25rem}
main{padding-top:clamp(1.5rem,6vw,4rem)}
h1,h2,h3,h4,h5,h6{line-height:1.25;margin:0;text-wrap:balance}
h1{font-size:clamp(1.6rem,1.2rem + 2.2vw,2.25rem);letter-spacing:-.015em;font-weight:600}
h2{font-size:1.25rem;font-weight:600;margin-bottom:.75rem}
h3{font-size:1.0625rem;font-weight:600}
p{margin:0 0 .9em}
a{color:var(--accent);text-decoration-thickness:1px;text-underline-offset:.18em}
a:hover{text-decoration-thickness:2px}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
:target{scroll-margin-top:1rem}
.kind{margin:0 0 .5rem;color:var(--soft);font-size:.875rem}
.when,footer{color:var(--soft);font-size:.9375rem}
section{margin-top:2.5rem}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.9em}
code{background:var(--sunk);border-radius:.25rem;padding:.1em .3em}
pre{background:var(--sunk);border-radius:.5rem;padding:.75rem 1rem;margin:0 0 .9em;white-space:pre-wrap}
pre code{padding:0;font-size:1em}
footer{margin-top:3rem;padding-bottom:3rem}
footer>:first-child{border-top:1px solid var(--line);padding-top:1.25rem}
footer p{margin:0 0 .35rem}
form{margin-top:1.5rem;max-width:22rem}
label{display:block;font-weight:600;margin-bottom:.35rem}
input,button{font:inherit;color:inherit;width:100%;min-height:3rem;border-radius:12px;padding:.5rem .9rem}
input{background:var(--card);border:1.5px solid var(--edge);border-radius:8px}
[aria-invalid]{border-color:var(--crit)}
button{margin-top:1rem;background:var(--accent);border:1.5px solid var(--accent);color:var(--on);font-weight:600;cursor:pointer}
.wrong{color:var(--crit);margin:0 0 1rem;font-weight:600}
.lead{margin-top:1rem}
.brand{display:flex;gap:8px;align-items:center;margin:0 0 1rem;font-size:1.25rem;font-weight:700;letter-spacing:-.03em}
.mark{width:1.75rem;height:1.75rem}
.mark>path{fill:none;stroke:var(--ink);stroke-width:2.5;stroke-linecap:round;stroke-linejoin:round}
.mark>circle{fill:var(--good)}
@media print{:root{color-scheme:light;--paper:#fff;--card:#fff;--ink:#000;--soft:#333;--line:#999;--sunk:#fff;--accent:#000}
body{font-size:11pt}main{padding-top:0}main,footer{max-width:none;padding-left:0;padding-right:0}
.screen{display:none}h2,h3,h4,h5,h6{break-after:avoid}}
`;

/** The CSP source expression that allows this style sheet or script and no other (CSP level 3). */
export function sourceOf(text: string): string {
  return `'sha256-${hash("sha256", text, "base64")}'`;
}
