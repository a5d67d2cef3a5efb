// The players' display: legible at ten metres, and nothing on it needs a mouse.
"use strict";

function favourite(seen) {
  const item = pocket("li", seen);
  item.setAttribute("aria-label", say("times", { number: seen.number, count: seen.times }));
  item.append(Object.assign(document.createElement("small"), { textContent: ` ${seen.times}×` }));
  return item;
}

follow("/display/events", {
  wheel: (wheel) => {
    const number = element("number");
    const isOut = wheel.cause === "" && wheel.state !== "rien_va" && wheel.number !== null;
    show("number", isOut ? wheel.number.number : null);
    // While a coup runs the last number is that of the one before.
    const isPast = !["operations", "faites_vos_jeux", "closed"].includes(wheel.state);
    number.className = `number ${isOut ? wheel.number.colour : ""} ${isPast ? "past" : ""}`;
    write("announcement", isOut && wheel.state === "operations" ? wheel.announcement : "");
    write("ritual", wheel.ritual);
    write("cause", wheel.cause);
    element("last").hidden = wheel.last_coup === null;
    showNumbers(wheel);
    fill("hot", wheel.hot.map(favourite));
    fill("cold", wheel.cold.map(favourite));
    write("counted", say("of_last", { count: wheel.counted }));
  },
});

element("full").addEventListener("click", () => document.documentElement.requestFullscreen());
document.addEventListener("fullscreenchange", () => {
  element("full").hidden = document.fullscreenElement !== null;
});
