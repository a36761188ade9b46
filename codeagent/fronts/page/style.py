"""The style sheet of an exported session: light and dark by the reader's own setting, and for print."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark;
  --back: #fbfaf7; --surface: #f2f0ea; --line: #c9c6bc; --text: #23262d; --muted: #5f6572; --accent: #2a52b8;
  --added: #1d6433; --removed: #a3242c; --warning: #7a4f00; --added-back: #e6f4e6; --removed-back: #fbe9e8;
  --keyword: #6a37b0; --string: #1f5f33; --number: #87420b; --name: #1b5580; }
@media (prefers-color-scheme: dark) { :root {
  --back: #15171c; --surface: #1c1f26; --line: #3a404c; --text: #d9dce3; --muted: #8f97a6; --accent: #82aaff;
  --added: #8fd18b; --removed: #f2949c; --warning: #e6c07a; --added-back: #17271c; --removed-back: #2c1a1e;
  --keyword: #c3a6ff; --string: #a9d39b; --number: #efb08a; --name: #8cc8ea; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.55 system-ui, sans-serif; }
main { max-width: 54rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .4rem; overflow-wrap: anywhere; }
h2, h3, h4 { font-size: 1.05rem; margin: 1.2em 0 .4em; }
p, ul, ol, table { margin: 0 0 .8em; }
a { color: var(--accent); }
.facts, footer, .note { color: var(--muted); font-size: .87rem; }
.facts { margin: 0 0 2.2rem; } .facts span { margin-right: 1.1em; white-space: nowrap; }
.facts .place { white-space: normal; overflow-wrap: anywhere; }
.you { margin: 2.2rem 0 1.2rem; padding: .7rem 1rem; background: var(--surface); border-left: 3px solid var(--accent);
  border-radius: 0 6px 6px 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.said { overflow-wrap: anywhere; } details + .said { margin-top: .9rem; } .said > :last-child { margin-bottom: .8em; }
code, pre { font: .84rem/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
:not(pre) > code { background: var(--surface); padding: .1em .3em; border-radius: 4px; }
pre { margin: .4rem 0 .8rem; padding: .6rem .8rem; background: var(--surface); border-radius: 6px; overflow-x: auto;
  max-height: 36rem; }
pre.numbered { padding: .5rem 0; } .numbered .row { display: block; padding: 0 .8rem; width: max-content;
  min-width: 100%; min-height: 1.5em; }
.numbered i { display: inline-block; min-width: 2.6em; margin-right: 1em; text-align: right; font-style: normal;
  color: var(--muted); user-select: none; }
.numbered b { display: inline-block; width: 1.2em; font-weight: normal; user-select: none; }
.add { background: var(--added-back); } .add b, .ins { color: var(--added); }
.rem { background: var(--removed-back); } .rem b, .del { color: var(--removed); }
.c { color: var(--muted); } .k { color: var(--keyword); } .s { color: var(--string); } .n { color: var(--number); }
.f { color: var(--name); }
details { margin: .15rem 0; } details > :not(summary) { margin-left: 1.15rem; }
summary { display: flex; gap: .6em; cursor: pointer; padding: .12rem 0; color: var(--muted); list-style: none; }
summary::-webkit-details-marker { display: none; } summary::before { content: "▸"; flex: none; width: .55em; }
details[open] > summary::before { content: "▾"; }
summary .what { color: var(--text); font: .88rem/1.7 ui-monospace, Menlo, Consolas, monospace; overflow: hidden;
  text-overflow: ellipsis; white-space: nowrap; min-width: 0; }
summary .what b { display: inline-block; min-width: 3.6em; margin-right: .6em; }
summary .end { margin-left: auto; flex: none; font-size: .87rem; }
.wrong .end, .error { color: var(--removed); } .warning { color: var(--warning); }
.thinks { color: var(--muted); white-space: pre-wrap; font-size: .92rem; }
.todo { list-style: none; padding: 0; } .todo li.completed { color: var(--muted); }
.todo li.in_progress { font-weight: 600; } .todo b { display: inline-block; width: 1.4em; font-weight: normal; }
.note { margin: .3rem 0; } details > .note { margin: -.4rem 0 .6rem 1.15rem; }
table { border-collapse: collapse; } th, td { border: 1px solid var(--line); padding: .25em .6em; text-align: left; }
blockquote { margin: 0 0 .8em; padding-left: 1em; border-left: 3px solid var(--line); color: var(--muted); }
img { max-width: 100%; border-radius: 6px; }
.turn-end { border: 0; border-top: 1px solid var(--line); margin: 1.6rem 0; }
footer { margin-top: 3rem; }
@media print { pre { max-height: none; white-space: pre-wrap; } main { max-width: none; padding: 0; } }
"""
