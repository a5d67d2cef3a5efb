// What every page has: its words, the stream of what is known, and the bar that says that the wheel is lost.
"use strict";

const DATA = JSON.parse(document.getElementById("data").textContent);
const WORDS = DATA.words;
const SILENT_MS = 6000; // three beats of the server

function say(key, parts = {}) {
  return WORDS[key].replace(/\{(\w+)\}/g, (place, name) => (name in parts ? String(parts[name]) : place));
}

function element(id) {
  return document.getElementById(id);
}

function show(id, text) {
  const place = element(id);
  const value = text === null || text === undefined || text === "" ? "–" : String(text);
  if (place && place.textContent !== value) place.textContent = value; // unchanged text is not read out again
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

// `on` handles each kind of event. A page without a stream must say so at once: what stands on it is old.
function follow(path, on) {
  let heard = 0;
  let online = true;
  const source = new EventSource(`${path}?lang=${DATA.language}`);
  const lost = element("lost");
  function bar() {
    const isSilent = performance.now() - heard > SILENT_MS;
    const text = isSilent ? WORDS.lost_page : online ? "" : WORDS.lost;
    if (lost.textContent !== text) lost.textContent = text;
    lost.hidden = text === "";
    document.body.classList.toggle("old", text !== "");
  }
  for (const kind of ["beat", ...Object.keys(on)]) {
    source.addEventListener(kind, (event) => {
      heard = performance.now();
      const told = JSON.parse(event.data);
      if (kind === "wheel") {
        online = told.online;
        element("bench").hidden = !told.test;
      }
      if (on[kind]) on[kind](told);
      bar();
    });
  }
  source.addEventListener("error", () => {
    heard = -SILENT_MS - 1;
    bar();
  });
  setInterval(bar, 500);
}
