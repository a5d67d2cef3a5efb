// The players' display. People can read it from ten metres, and it needs no mouse.
"use strict";

const POINTED_MS = 4000;
let pointed;

function favourite(seen) {
  const item = pocket("li", seen);
  item.setAttribute("aria-label", say("times", { number: seen.number, count: seen.times }));
  item.append(Object.assign(document.createElement("small"), { textContent: ` ${seen.times}×` }));
  return item;
}

function line(text) {
  return Object.assign(document.createElement("li"), { textContent: text });
}

// Return both values of a simple chance in words, with a bar that shows their shares.
function share(sides) {
  const item = line("");
  item.style.setProperty("--percent", `${sides[0].percent}%`);
  item.append(...sides.map(({ side, percent }) =>
    Object.assign(document.createElement("span"), { className: side, textContent: `${WORDS[side]} ${percent} %` })));
  return item;
}

// Return the state that the page shows by colour and shape, and not only in words.
function phase(wheel) {
  if (wheel.cause !== "" || wheel.state === "rien_va") return "void";
  if (wheel.state === "operations") return "number";
  if (wheel.bets !== "open") return "closed";
  return wheel.state === "ball_running" ? "last-bets" : "open";
}

follow("/display/events", {
  wheel: (wheel) => {
    document.body.dataset.phase = phase(wheel);
    const number = element("number");
    const isOut = wheel.cause === "" && wheel.state !== "rien_va" && wheel.number !== null;
    show("number", isOut ? wheel.number.number : null);
    // While a coup runs, the last number is that of the coup before it.
    const isPast = !["operations", "faites_vos_jeux", "closed"].includes(wheel.state);
    number.className = `number ${isOut ? wheel.number.colour : ""} ${isPast ? "past" : ""}`;
    const isLastBets = document.body.dataset.phase === "last-bets";
    write("announcement", isLastBets ? WORDS.last_bets : isOut && wheel.state === "operations" ? wheel.announcement : "");
    write("ritual", wheel.ritual);
    write("cause", wheel.cause);
    element("last").hidden = wheel.last_coup === null;
    showNumbers(wheel);
    element("favourites").hidden = wheel.hot.length === 0;
    fill("hot", wheel.hot.map(favourite));
    fill("cold", wheel.cold.map(favourite));
    fill("shares", wheel.shares.map(share));
    fill("zeros", wheel.zeros.map(favourite));
    write("name", wheel.name);
    element("limits").hidden = wheel.limits.length === 0;
    fill("limits", wheel.limits.map(line));
    write("counted", say("of_last", { count: wheel.counted }));
  },
});

// Hide the links and the button until somebody moves the pointer.
document.addEventListener("pointermove", () => {
  document.body.classList.add("pointed");
  clearTimeout(pointed);
  pointed = setTimeout(() => document.body.classList.remove("pointed"), POINTED_MS);
});
element("full").addEventListener("click", () => document.documentElement.requestFullscreen());
document.addEventListener("fullscreenchange", () => {
  element("full").hidden = document.fullscreenElement !== null;
});
