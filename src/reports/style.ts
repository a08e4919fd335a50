import { hash } from "node:crypto";

/**
 * The one style sheet of the public pages: calm, phone first, light and dark by the reader's own
 * setting, quiet on paper. Nothing scrolls sideways: what is too wide breaks, so that no part needs
 * a pointer. Every pair of colours has a contrast of at least 4.5.
 */
export const STYLE = `
:root{color-scheme:light dark;--paper:#fbfaf8;--card:#fff;--ink:#1c2024;--soft:#5a6169;--line:#e2dfd9;
--link:#0a5a9c;--code:#f2f0ec;--reported:#5a6169;--update:#0a5a9c;--analysis:#8a5200;--resolution:#1a6b3c;--wrong:#b3261e}
@media (prefers-color-scheme:dark){:root{--paper:#14171a;--card:#1c2024;--ink:#e8e6e3;--soft:#a2a9b0;--line:#32383e;
--link:#82bef5;--code:#262b30;--reported:#a2a9b0;--update:#82bef5;--analysis:#eab765;--resolution:#7ccf9b;--wrong:#ff9d94}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);overflow-wrap:anywhere;
font:1.0625rem/1.6 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif}
main,footer{max-width:42rem;margin:0 auto;padding:0 1.25rem}
main{padding-top:clamp(1.5rem,6vw,4rem)}
h1,h2,h3,h4,h5,h6{line-height:1.25;margin:0;text-wrap:balance}
h1{font-size:clamp(1.6rem,1.2rem + 2.2vw,2.25rem);letter-spacing:-.015em;font-weight:680}
h2{font-size:1.25rem;font-weight:650;margin-bottom:.75rem}
h3{font-size:1.0625rem;font-weight:650}
p{margin:0 0 .9em}
a{color:var(--link);text-decoration-thickness:1px;text-underline-offset:.18em}
a:hover{text-decoration-thickness:2px}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
:target{scroll-margin-top:1rem}
.kind{margin:0 0 .5rem;color:var(--soft);font-size:.875rem}
.now{--tone:var(--reported);margin:1.25rem 0 0;padding:.9rem 1.1rem;border:1px solid var(--line);
border-left:.375rem solid var(--tone);border-radius:.5rem;background:var(--card)}
.now p{margin:0}
.now strong{display:block;color:var(--tone);font-size:1.3rem;line-height:1.35}
.update{--tone:var(--update)}.analysis{--tone:var(--analysis)}.resolution{--tone:var(--resolution)}
.now .when{margin-top:.35rem}
.when,footer,.order{color:var(--soft);font-size:.9375rem}
.order{font-weight:400;white-space:nowrap}
time{font-variant-numeric:tabular-nums}
.exact{white-space:nowrap}
section{margin-top:2.5rem}
.entries>article{position:relative;padding:0 0 2.25rem 2rem}
.entries>article:last-child{padding-bottom:0}
.entries>article::before,.entries>article:not(:last-child)::after{content:"";position:absolute}
.entries>article::before{left:0;top:.25rem;width:.875rem;height:.875rem;border-radius:50%;border:2px solid var(--tone)}
.entries>article:first-child::before{background:var(--tone)}
.entries>article::after{left:calc(.4375rem - 1px);top:1.5rem;bottom:.125rem;width:2px;background:var(--line)}
.entries .when{margin:.15rem 0 .6rem}
.type{color:var(--tone);font-weight:650}
.content>:last-child{margin-bottom:0}
.content :is(h4,h5,h6){font-size:1rem;margin:1.2em 0 .4em}
.content :is(ul,ol){margin:0 0 .9em;padding-left:1.4em}
.content ul{list-style:disc}
.content blockquote{margin:0 0 .9em;padding-left:1rem;border-left:3px solid var(--line);color:var(--soft)}
.content hr{border:0;border-top:1px solid var(--line);margin:1.5em 0}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.9em}
code{background:var(--code);border-radius:.25rem;padding:.1em .3em}
pre{background:var(--code);border-radius:.5rem;padding:.75rem 1rem;margin:0 0 .9em;white-space:pre-wrap}
pre code{padding:0;font-size:1em}
table{border-collapse:collapse;margin:0 0 .9em;font-size:.9375rem}
th,td{border-bottom:1px solid var(--line);padding:.35rem .5rem .35rem 0;text-align:start;vertical-align:top}
th:last-child,td:last-child{padding-right:0}
[align=right]{text-align:right}[align=center]{text-align:center}
footer{margin-top:3rem;padding-bottom:3rem}
footer>:first-child{border-top:1px solid var(--line);padding-top:1.25rem}
footer p{margin:0 0 .35rem}
form{margin-top:1.5rem;max-width:22rem}
label{display:block;font-weight:600;margin-bottom:.35rem}
input,button{font:inherit;color:inherit;width:100%;min-height:3rem;border-radius:.5rem;padding:.5rem .9rem}
input{background:var(--card);border:1px solid var(--soft)}
[aria-invalid]{border-color:var(--wrong)}
button{margin-top:1rem;background:var(--link);border:1px solid var(--link);color:var(--paper);font-weight:650;cursor:pointer}
.wrong{color:var(--wrong);margin:0 0 1rem;font-weight:600}
.lead{margin-top:1rem}
@media (forced-colors:active){.entries>article::before{border-color:CanvasText}}
@media print{:root{color-scheme:light;--paper:#fff;--card:#fff;--ink:#000;--soft:#333;--line:#999;--code:#fff;
--link:#000;--reported:#000;--update:#000;--analysis:#000;--resolution:#000}
body{font-size:11pt}main{padding-top:0}main,footer{max-width:none;padding-left:0;padding-right:0}
.screen{display:none}.entries>article,.now{break-inside:avoid}h2,h3,h4,h5,h6{break-after:avoid}
.content a[href^=http]::after{content:" <" attr(href) ">";font-size:.85em}}
`;

/** The source expression that lets this sheet, and no other, style a page (CSP level 3). */
export const STYLE_SOURCE = `'sha256-${hash("sha256", STYLE, "base64")}'`;
