// The parts of every page: its words, the stream of data, and the bar that says that the page does not see the wheel.
"use strict";

const DATA = JSON.parse(document.getElementById("data").textContent);
const WORDS = DATA.words;
const TITLE = document.title;
const SILENT_MS = 6000; // three intervals of the server's stream
const AGAIN_MS = 3000; // a browser also waits so long before it asks again for a broken stream

function say(key, parts = {}) {
  return WORDS[key].replace(/\{(\w+)\}/g, (place, name) => (name in parts ? String(parts[name]) : place));
}

function element(id) {
  return document.getElementById(id);
}

// Write only a text that has changed: a screen reader reads aloud each text that is written, even the same one.
function write(id, text) {
  const place = element(id);
  if (place.textContent !== text) place.textContent = text;
}

function show(id, text) {
  write(id, text === null || text === undefined || text === "" ? "–" : String(text));
}

function pocket(tag, seen) {
  const item = document.createElement(tag);
  item.className = `pocket ${seen.colour}`;
  item.textContent = seen.number;
  return item;
}

function fill(id, items) {
  const list = element(id);
  const before = list.textContent;
  if (items.map((item) => item.textContent).join("") !== before || !before) list.replaceChildren(...items);
}

function showNumbers(wheel) {
  fill("numbers", wheel.numbers.map((seen) => pocket("li", seen)));
}

// A browser asks again for a stream that broke, but not for one that the server refused. The server refuses a stream if
// there are too many viewers, or if it asks for the token again. Then load the page again as soon as that works.
async function begin() {
  const page = await fetch(location.href).catch(() => null);
  if (page?.ok) location.reload();
  else setTimeout(begin, AGAIN_MS);
}

// `on` handles each kind of event. A page without a stream must say so at once, because it shows old data.
function follow(path, on) {
  let heard = 0;
  let away = "";
  const source = new EventSource(`${path}?lang=${DATA.language}`);
  const lost = element("lost");
  function bar() {
    const isSilent = performance.now() - heard > SILENT_MS;
    const text = isSilent ? WORDS.lost_page : away;
    if (lost.textContent !== text) lost.textContent = text;
    lost.hidden = text === "";
    document.body.classList.toggle("old", text !== "");
  }
  for (const kind of ["beat", ...Object.keys(on)]) {
    source.addEventListener(kind, (event) => {
      heard = performance.now();
      const told = JSON.parse(event.data);
      if (kind === "wheel") {
        away = told.online ? "" : told.never ? WORDS.never : WORDS.lost;
        element("bench").hidden = !told.test;
        document.title = [TITLE, told.table].filter(Boolean).join(" · ");
        write("title", document.title);
      }
      if (on[kind]) on[kind](told);
      bar();
    });
  }
  source.addEventListener("error", () => {
    heard = -SILENT_MS - 1;
    bar();
    if (source.readyState === EventSource.CLOSED) setTimeout(begin, AGAIN_MS);
  });
  setInterval(bar, 500);
}
