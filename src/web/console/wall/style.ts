/**
 * The wall's own sheet, read from five metres: on a screen of 43 inches what broke is 17 mm high in capitals and the rest 11,
 * whatever its pixels. Sizes follow the screen and the reader's own text size alike.
 */
export const WALL_STYLE = `
:root{color-scheme:light dark;--paper:light-dark(#faf9f7,#101215);--ink:light-dark(#17191c,#eceae6);--soft:light-dark(#40464d,#bcc2c8);
--line:light-dark(#c9c5bd,#3a4148);--crit:light-dark(#8f170f,#ffa79f);--err:light-dark(#8c3900,#ffb68c);--warn:light-dark(#6b4900,#f0c37a);
--u:calc(.5rem + 1vmax)}
[data-theme=light]{color-scheme:light}[data-theme=dark]{color-scheme:dark}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;min-height:100vh;padding:var(--u);background:var(--paper);color:var(--ink);overflow-wrap:anywhere;
font:calc(1.55*var(--u))/1.3 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;
font-variant-numeric:tabular-nums}
h1,h2{margin:0 0 calc(.5*var(--u));font-size:1em;font-weight:600;color:var(--soft)}
p,ol,ul{margin:0;padding:0;list-style:none}
#main{display:grid;gap:calc(1.5*var(--u))}
li{padding:calc(.35*var(--u)) 0;border-top:max(1px,.08em) solid var(--line)}
ol>li{padding-inline-start:.6em;border-inline-start:.3em solid var(--line)}
li:has(.badge-critical){border-inline-start-color:var(--crit)}li:has(.badge-error){border-inline-start-color:var(--err)}
li:has(.badge-warn){border-inline-start-color:var(--warn)}
.what{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:1;overflow:hidden;
font-size:calc(2.4*var(--u));line-height:1.2;font-weight:600}
.few .what{-webkit-line-clamp:3}
var{font-style:normal}
.about{color:var(--soft)}
.glyph{width:.85em;height:.85em;vertical-align:-.08em;fill:currentColor}
.glyph :is(.o,.x,.y){fill:none;stroke:currentColor;stroke-width:1.8}.glyph .x{stroke:var(--paper)}
.badge{font-weight:700}.badge>.glyph{margin-inline-end:.3em}
.badge-critical{color:var(--crit)}.badge-error{color:var(--err)}.badge-warn{color:var(--warn)}
.badge-info,.badge-debug{color:var(--soft)}
.none{color:var(--crit);font-weight:700}
.down{margin:0 0 var(--u);padding:calc(.5*var(--u)) var(--u);border:max(2px,.12em) solid var(--crit);color:var(--crit);font-weight:700}
.down:empty{display:none}
[data-stale] #main{opacity:.72}
@media (min-aspect-ratio:5/4) and (min-width:60rem){#main{grid-template-columns:minmax(0,5fr) minmax(0,2fr)}}
@media (forced-colors:active){.glyph{forced-color-adjust:none}}
`;
