/**
 * The wall's own sheet, read from five metres: on a screen of 43 inches what broke is 17 mm high in capitals and the rest 11,
 * whatever its pixels. Sizes follow the screen and the reader's own text size alike.
 */
export const WALL_STYLE = `
:root{color-scheme:light dark;--paper:light-dark(#faf9f7,#101215);--raised:light-dark(#fff,#191c20);--ink:light-dark(#17191c,#eceae6);--soft:light-dark(#40464d,#bcc2c8);
--line:light-dark(#c9c5bd,#3a4148);--sunk:light-dark(#f1efeb,#23272c);--crit:light-dark(#8f170f,#ffa79f);--err:light-dark(#8c3900,#ffb68c);--warn:light-dark(#6b4900,#f0c37a);
--good:light-dark(#17693c,#7fd3a0);--accent:light-dark(#1f5fbf,#8ab8ff);--hot:light-dark(#fdecea,#361816);--u:calc(.5rem + 1vmax)}
[data-theme=light]{color-scheme:light}[data-theme=dark]{color-scheme:dark}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;min-height:100vh;display:grid;grid-template-columns:minmax(0,1fr);align-content:start;padding:var(--u);background:var(--paper);color:var(--ink);overflow-wrap:anywhere;
font:calc(1.55*var(--u))/1.3 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;
font-variant-numeric:tabular-nums}
#down{grid-area:1/1}
#main{grid-area:2/1;display:grid;grid-template-columns:minmax(0,1fr);gap:calc(1.5*var(--u))}
#clock{grid-area:2/1;justify-self:end;font-size:calc(2.2*var(--u));line-height:1;font-weight:600;white-space:nowrap}
#clock>span{color:var(--soft);font-size:calc(1.55*var(--u));font-weight:400}
.head{display:flex;gap:calc(.5*var(--u))}
.mark{flex:none;width:1.3em;height:1.3em}
.mark>path{fill:none;stroke:var(--ink);stroke-width:2.5;stroke-linecap:round;stroke-linejoin:round}.mark>circle{fill:var(--good)}
h1,h2{margin:0 0 calc(.5*var(--u));font-size:1em;font-weight:600;color:var(--soft)}
p,ol,ul{margin:0;padding:0;list-style:none}
ol,ul{display:grid;grid-template-columns:minmax(0,1fr);gap:calc(.35*var(--u))}
li{padding:calc(.3*var(--u)) calc(.6*var(--u));border-radius:calc(.4*var(--u));background:var(--ground,var(--raised));box-shadow:inset 0 0 0 max(1px,.04em) var(--line)}
ul>li{display:flex;gap:calc(.7*var(--u))}
ul>li>div{min-width:0}
ol>li{border-inline-start:.3em solid var(--own,var(--line))}
ol>.has{border-inline-start-style:dashed}ol>.quiet{border-inline-start-style:dotted}
ol>.free:first-child:has(.badge-critical,.badge-error){--ground:var(--hot)}
li:has(.badge-critical){--own:var(--crit)}li:has(.badge-error){--own:var(--err)}li:has(.badge-warn){--own:var(--warn)}
.what{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:1;overflow:hidden;
font-size:calc(2.4*var(--u));line-height:1.2;font-weight:600}
.quiet .what,.has .what{font-weight:400}
#main>.what{-webkit-line-clamp:4}.few .what{-webkit-line-clamp:3}
.under{display:flex;gap:var(--u);justify-content:space-between}
.under>p{min-width:0;overflow:hidden;white-space:nowrap;text-overflow:ellipsis}
ol:not(.few) .now>.chip,ol:not(.few) .after{display:none}
.few .under{display:block}.few .under>p{overflow:visible;white-space:normal}
.few .now{display:flex;gap:calc(.7*var(--u));align-items:center;margin-top:calc(.3*var(--u))}
.now>span{min-width:0}.now>.chip{margin-inline-start:.16em}
.chip{position:relative;flex:none;display:inline-grid;place-items:center;width:2.1em;height:2.1em;border-radius:50%;font-weight:600;line-height:1}
.chip>span{font-size:.8em}
ul .chip{margin-top:.25em}ul .what{-webkit-line-clamp:2}
.chip-square{border-radius:28%;background:var(--sunk);color:var(--soft)}
.chip-rings{box-shadow:0 0 0 .07em var(--ground,var(--raised)),0 0 0 .16em var(--accent)}
.i{width:1.2em;height:1.2em;fill:none;stroke:currentColor;stroke-width:1.75;stroke-linecap:round;stroke-linejoin:round}
.proof{position:absolute;inset:auto -.2em -.2em auto;width:.85em;height:.85em;padding:.08em;border-radius:50%;background:var(--ground,var(--raised))}
.proof .f{fill:currentColor}.proof .o{stroke:currentColor}
.proof :is(.k,.o){fill:none;stroke-width:1.8;stroke-linecap:round;stroke-linejoin:round}.proof .k{stroke:var(--ground,var(--raised))}
.proof.good{color:var(--good)}.proof.warn{color:var(--warn)}.proof.crit{color:var(--crit)}.proof.soft{color:var(--soft)}
.hue-1{background:light-dark(#dbe7fb,#1c3357);color:light-dark(#123c7c,#cfe0ff)}
.hue-2{background:light-dark(#d3edf4,#123a47);color:light-dark(#0b4a5c,#c2ecf7)}
.hue-3{background:light-dark(#f8e0ee,#46203a);color:light-dark(#7a1b4c,#ffd3e8)}
.hue-4{background:light-dark(#fbe6cb,#46300f);color:light-dark(#6b3a00,#ffe0b5)}
.hue-5{background:light-dark(#e7e2fa,#30275a);color:light-dark(#41288a,#dcd4ff)}
.hue-6{background:light-dark(#fadfd8,#4a2419);color:light-dark(#7a2a16,#ffd5c8)}
.hue-7{background:light-dark(#ecebc8,#37370f);color:light-dark(#4b4a08,#ecebb5)}
.hue-8{background:light-dark(#e2e6ec,#2b3441);color:light-dark(#333f4f,#d9e2ee)}
var{font-style:normal}
.about,.after{color:var(--soft)}.now{color:var(--ink)}
.glyph{width:.85em;height:.85em;vertical-align:-.08em;fill:currentColor}
.glyph :is(.o,.x,.y){fill:none;stroke:currentColor;stroke-width:1.8}.glyph .x{stroke:var(--ground,var(--raised))}
.badge{font-weight:700}.badge>.glyph{margin-inline-end:.3em}
.badge-critical{color:var(--crit)}.badge-error{color:var(--err)}.badge-warn,b.warn{color:var(--warn)}
.badge-info,.badge-debug{color:var(--soft)}
.none,b.crit{color:var(--crit);font-weight:700}
.down{margin:0 0 var(--u);padding:calc(.5*var(--u)) var(--u);border:max(2px,.12em) solid var(--crit);color:var(--crit);font-weight:700}
.down:empty{display:none}
[data-stale] #main{opacity:.72}
@media (max-width:40rem){:root{--u:calc(.4rem + 1vmin)}#clock>span{display:none}.head{padding-inline-end:calc(7*var(--u))}.few .what{-webkit-line-clamp:6}}
@media (min-aspect-ratio:5/4) and (min-width:60rem){.few .what{-webkit-line-clamp:2}.few .under>.about:not(.now){white-space:nowrap;overflow:hidden}
#main{grid-template-columns:minmax(0,9fr) minmax(0,4fr)}
#clock{margin-inline-end:calc((100% - 1.5*var(--u))*4/13 + 1.5*var(--u))}}
@media (forced-colors:active){.glyph,.chip,.proof{forced-color-adjust:none}li{border:1px solid}}
`;
