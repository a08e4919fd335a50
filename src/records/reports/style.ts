import { PAGE_STYLE } from "../../ground/page/style.ts";

/** The style sheet of the public pages: the style of every page, and an incident's timeline. */
export const STYLE = `${PAGE_STYLE}
:root{--reported:var(--crit);--update:var(--accent);--analysis:var(--warn);--resolution:var(--soft)}
.now{--tone:var(--reported);margin:1.25rem 0 0;padding:.9rem 1.1rem;border:1px solid var(--line);
border-left:.375rem solid var(--tone);border-radius:.5rem;background:var(--card)}
.now p{margin:0}
.now strong{display:block;color:var(--tone);font-size:1.3rem;line-height:1.35}
.update{--tone:var(--update)}.analysis{--tone:var(--analysis)}.resolution{--tone:var(--resolution)}
.now .when{margin-top:.35rem}
.order{color:var(--soft);font-size:.9375rem;font-weight:400;white-space:nowrap}
time{font-variant-numeric:tabular-nums}
.exact{white-space:nowrap}
.entries>article{position:relative;padding:0 0 2.25rem 2rem}
.entries>article:last-child{padding-bottom:0}
.entries>article::before,.entries>article:not(:last-child)::after{content:"";position:absolute}
.entries>article::before{left:0;top:.25rem;width:.875rem;height:.875rem;border-radius:50%;border:2px solid var(--tone)}
.entries>article:first-child::before{background:var(--tone)}
.entries>article::after{left:calc(.4375rem - 1px);top:1.5rem;bottom:.125rem;width:2px;background:var(--line)}
.entries .when{margin:.15rem 0 .6rem}
.type{color:var(--tone);font-weight:600}
.content>:last-child{margin-bottom:0}
.content :is(h4,h5,h6){font-size:1rem;margin:1.2em 0 .4em}
.content :is(ul,ol){margin:0 0 .9em;padding-left:1.4em}
.content ul{list-style:disc}
.content blockquote{margin:0 0 .9em;padding-left:1rem;border-left:3px solid var(--line);color:var(--soft)}
.content hr{border:0;border-top:1px solid var(--line);margin:1.5em 0}
table{border-collapse:collapse;margin:0 0 .9em;font-size:.9375rem}
th,td{border-bottom:1px solid var(--line);padding:.35rem .5rem .35rem 0;text-align:start;vertical-align:top}
th:last-child,td:last-child{padding-right:0}
[align=right]{text-align:right}[align=center]{text-align:center}
@media (forced-colors:active){.entries>article::before{border-color:CanvasText}}
@media print{:root{--reported:#000;--update:#000;--analysis:#000;--resolution:#000}
.entries>article,.now{break-inside:avoid}
.content a[href^=http]::after{content:" <" attr(href) ">";font-size:.85em}}
`;

/** Below a preview and always visible: what was left out, or why it isn't shown. */
export const PREVIEW_STYLE = `${STYLE}
.left-out{position:sticky;bottom:0;margin:2rem 0 0;padding:.75rem 1.25rem;background:var(--card);color:var(--analysis);
border-top:2px solid var(--analysis)}
.left-out p{margin:0}
`;
