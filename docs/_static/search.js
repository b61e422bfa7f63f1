// Under each page that a search has found stands the sentence that the words are in: of its text where it is
// there, otherwise a line of its code.  Sphinx's own summary begins in the middle of a word, and often in the
// contents at the page's side.

const NOISE = "nav, script, style, .headerlink, .toctree-wrapper, #jb-print-docs-body, .live-2048, .text_html, mjx-container, .math";
const LONGEST = 260; // letters

// The sentence with most of the words, the first of equals; null where none has any.
function sentenceWith(words, texts) {
  const found = texts.flatMap((text) => text.replace(/\s+/g, " ").trim().split(/(?<=[.?!]) (?=\S)/));
  const hits = (text) => words.filter((word) => text.toLowerCase().includes(word)).length;
  const best = found.reduce((most, text) => (hits(text) > hits(most) ? text : most), "");
  return best ? shortened(best, words) : null;
}

// A long sentence, cut between words around the first of what was sought.
function shortened(text, words) {
  if (text.length <= LONGEST) return text;
  const lower = text.toLowerCase();
  const at = Math.min(...words.map((word) => lower.indexOf(word)).filter((n) => n >= 0));
  const from = at < LONGEST / 2 ? 0 : text.indexOf(" ", at - LONGEST / 2) + 1;
  const to = from + LONGEST >= text.length ? text.length : text.lastIndexOf(" ", from + LONGEST);
  return (from ? "… " : "") + text.slice(from, to) + (to < text.length ? " …" : "");
}

// A text as elements, the words in it marked.
function marked(text, words) {
  const line = document.createElement("p");
  line.className = "context";
  const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  for (const part of text.split(new RegExp(`(${escaped.join("|")})`, "i"))) {
    const hit = words.includes(part.toLowerCase());
    line.append(hit ? Object.assign(document.createElement("mark"), { textContent: part }) : part);
  }
  return line;
}

Search.makeSearchSummary = (page, keywords, anchor) => {
  const words = [...keywords].map((word) => word.toLowerCase());
  const main = new DOMParser().parseFromString(page, "text/html").querySelector("article.bd-article");
  const part = (anchor && main?.querySelector(anchor)) || main;
  if (!part || !words.length) return document.createDocumentFragment();
  part.querySelectorAll(NOISE).forEach((element) => element.remove());
  const texts = (kind) => [...part.querySelectorAll(kind)].map((element) => element.textContent);
  const lines = texts("pre").flatMap((text) => text.split("\n"));
  const found = sentenceWith(words, texts("p, li, dd, td")) ?? sentenceWith(words, lines);
  return found ? marked(found, words) : document.createDocumentFragment();
};
