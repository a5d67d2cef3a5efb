// The bench page: the buttons of the simulator, and the answers of its wheel and of the daemon.
"use strict";

const LINES_MAX = 100; // the most lines in each list of the page
const WORDS = JSON.parse(document.getElementById("data").textContent);

function element(id) {
  return document.getElementById(id);
}

function addLine(list, entry, words) {
  const item = document.createElement("li");
  const time = document.createElement("time");
  time.textContent = entry.at;
  item.append(time, ` ${words}`);
  if (entry.name) item.className = entry.name;
  list.prepend(item);
  while (list.children.length > LINES_MAX) list.lastChild.remove();
}

function showPlay(entry) {
  element("play").textContent = entry.text;
  for (const who of ["by-hand", "by-itself"]) element(`do-${who}`).setAttribute("aria-pressed", String(entry.name === who));
  document.body.classList.toggle("by-hand", entry.name === "by-hand");
}

function showMessage(entry) {
  const coup = entry.coup === null ? "" : `, ${WORDS.coup} ${entry.coup}`;
  addLine(element("messages"), entry, `${WORDS.names[entry.name]}${coup}: ${entry.text}`);
}

function showEntry(entry) {
  if (entry.kind === "play") showPlay(entry);
  else if (entry.kind === "message") showMessage(entry);
  else addLine(element("truth"), entry, entry.text);
}

async function press(button) {
  const answer = element("answer");
  try {
    const response = await fetch(`/bench/do/${button.dataset.do}`, { method: "POST" });
    const told = await response.json();
    answer.textContent = told.words;
    answer.classList.toggle("refused", !told.done);
  } catch (error) {
    answer.textContent = WORDS.no_answer;
    answer.classList.add("refused");
  }
}

for (const button of document.querySelectorAll("[data-do]")) {
  button.addEventListener("click", () => press(button));
}

const source = new EventSource("/bench/events");
source.addEventListener("message", (event) => showEntry(JSON.parse(event.data)));
source.addEventListener("open", () => {
  element("lost").hidden = true;
});
source.addEventListener("error", () => {
  element("lost").hidden = false;
});
