// The live page. It shows the wheel as the sensors see it.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const LIT_MS = 250; // a beam stays lit for this long after a pulse, so that people see it
const LAPS_APART = 0.07; // the least distance of two lap numbers, as a part of the width: closer ones would overlap
const STILL = matchMedia("(prefers-reduced-motion: reduce)");
const bowl = element("bowl");
let about = null;
let rotor = null; // the turning group
let ball = null;
let beams = [];
let readers = [];
let lastBeam = null;
let lastSeen = "";
let coupDrawn = null; // the coup whose evidence the page shows
let coupVoid = null;
let failing = []; // the sensors that stop play now

function draw(tag, attributes, parent, text) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  parent.appendChild(node);
  return node;
}

// Return the place at an angle: degrees clockwise from the top, like the angles of the sensors.
function at(deg, radius) {
  const angle = ((deg - 90) * Math.PI) / 180;
  return [radius * Math.cos(angle), radius * Math.sin(angle)];
}

function drawPocket(label, index, parent) {
  const count = about.pockets.length;
  const half = 180 / count;
  const middle = (index * 360) / count;
  const [x1, y1] = at(middle - half, 78);
  const [x2, y2] = at(middle + half, 78);
  const [x3, y3] = at(middle + half, 52);
  const [x4, y4] = at(middle - half, 52);
  const path = `M${x1} ${y1} A78 78 0 0 1 ${x2} ${y2} L${x3} ${y3} A52 52 0 0 0 ${x4} ${y4} Z`;
  draw("path", { d: path, class: `pocket-${about.colours[index]}` }, parent);
  const [x, y] = at(middle, 70);
  const turn = `translate(${x} ${y}) rotate(${middle})`;
  draw("text", { transform: turn, class: "pocket-number" }, parent, label);
}

function drawWheel(told) {
  about = told;
  bowl.replaceChildren();
  draw("circle", { r: 106, class: "rim" }, bowl);
  draw("circle", { r: 94, class: "track" }, bowl);
  rotor = draw("g", { class: "rotor" }, bowl);
  draw("circle", { r: 80, class: "disc" }, rotor);
  told.labels.forEach((label, index) => drawPocket(label, index, rotor));
  draw("circle", { r: 50, class: "cone" }, rotor);
  for (const deg of [0, 90, 180, 270]) {
    const [x, y] = at(deg, 22);
    draw("line", { x1: 0, y1: 0, x2: x, y2: y, class: "spindle" }, rotor);
  }
  beams = told.beams_deg.map((deg) => {
    const [x, y] = at(deg, 103);
    return draw("circle", { cx: x, cy: y, r: 3.4, class: "beam" }, bowl);
  });
  readers = told.readers_deg.map((deg) => {
    const [x, y] = at(deg, 84);
    return draw("rect", { x: x - 2.6, y: y - 2.6, width: 5.2, height: 5.2, class: "reader" }, bowl);
  });
  ball = draw("circle", { r: 3.2, class: "ball", visibility: "hidden" }, bowl);
}

function light(node) {
  if (!node || STILL.matches) return;
  node.classList.add("lit");
  clearTimeout(node.dark);
  node.dark = setTimeout(() => node.classList.remove("lit"), LIT_MS);
}

function placeBall(deg, radius) {
  const [x, y] = at(deg, radius);
  ball.setAttribute("cx", x);
  ball.setAttribute("cy", y);
  ball.setAttribute("visibility", "visible");
}

function turnedDeg(glance) {
  return STILL.matches ? 0 : (glance.rotor_deg ?? 0);
}

function showBall(glance) {
  const turned = turnedDeg(glance);
  if (glance.ball === "at_rest" && glance.number !== null) {
    const index = about.pockets.indexOf(glance.number);
    placeBall(turned + (index * 360) / about.pockets.length, 57);
  } else if (glance.ball === "on_track" && lastBeam !== null) {
    placeBall(about.beams_deg[lastBeam], 97);
  } else if (glance.ball === "falling" && lastBeam !== null) {
    placeBall(about.beams_deg[lastBeam], 86);
  } else {
    ball.setAttribute("visibility", "hidden");
  }
}

// Without lines from the sensors the page sees nothing, and the last data is no longer true.
function goBlind() {
  element("blind").hidden = false;
  if (ball) ball.setAttribute("visibility", "hidden");
  element("seen").textContent = lastSeen = "";
  show("speed", null);
  show("laps", null);
}

function showFrame(frame) {
  if (!about) return;
  if (failing.includes(about.beams_deg.length ? "link" : "head")) {
    goBlind();
    return;
  }
  element("blind").hidden = true;
  for (const [, kind, number] of frame.seen) {
    if (kind === "beam") {
      lastBeam = number;
      light(beams[number]);
    } else if (kind === "reader") light(readers[number]);
  }
  const glance = frame.glance;
  if (glance.rotor_deg !== null) rotor.setAttribute("transform", `rotate(${turnedDeg(glance)})`);
  showBall(glance);
  const rpm = glance.rotor_rpm;
  show("speed", rpm === null ? WORDS.unknown : rpm === 0 ? WORDS.stands : say("rpm", { value: `${Math.abs(rpm)} ${rpm < 0 ? "↺" : "↻"}` }));
  show("laps", glance.laps);
  const key = glance.ball === "at_rest" && glance.number === null ? "" : `ball_${glance.ball}`;
  const seen = key ? say(key, { number: about.labels[about.pockets.indexOf(glance.number)] }) : "";
  if (seen !== lastSeen) element("seen").textContent = lastSeen = seen;
}

function node(tag, name, parent, text) {
  const made = document.createElement(tag);
  made.className = name;
  if (text !== undefined) made.textContent = text;
  parent?.appendChild(made);
  return made;
}

function placed(name, from, parent, text) {
  const made = node("span", name, parent, text);
  made.style.left = `${from * 100}%`;
  return made;
}

function showVoid(told) {
  write("void", told === null ? WORDS.no_void : `${WORDS.coup} ${told.coup}: ${told.words} — ${told.why}`);
  coupVoid = told === null ? null : told.coup;
  showWhose();
}

// Show evidence only if it belongs to the void coup that the page names. Otherwise people would mistake it.
function showWhose() {
  const isIts = coupDrawn !== null && coupDrawn === coupVoid;
  element("evidence").hidden = !isIts;
  element("no-evidence").hidden = isIts || coupVoid === null;
}

function drawLine(row, plot) {
  const svg = draw("svg", { viewBox: "0 0 1000 100", preserveAspectRatio: "none" }, plot);
  const points = row.line.map(([x, height]) => `${x * 1000},${94 - height * 84}`).join(" ");
  draw("polyline", { points, class: "speed" }, svg);
}

function drawRow(row, moment, parent) {
  const whole = node("div", `row ${row.kind}${row.decides ? " decides" : ""}`, parent);
  const label = node("p", "label", whole);
  node("strong", "", label, row.name);
  label.append(" ");
  node("span", "", label, row.told ?? "");
  const plot = node("div", "plot", whole);
  plot.setAttribute("aria-hidden", "true");
  if (row.line) drawLine(row, plot);
  for (const x of row.marks ?? []) placed("mark", x, plot);
  let last = -1;
  for (const [x, lap] of row.laps ?? []) {
    if (x - last < LAPS_APART) continue;
    placed("lap", x, plot, String(lap));
    last = x;
  }
  for (const [from, to] of row.bars ?? []) placed("bar-of", from, plot).style.width = `${(to - from) * 100}%`;
  placed("moment", moment, plot);
}

// Draw rows on one time axis. A line through all rows marks the moment when the cause happened.
function showEvidence(told) {
  const place = element("evidence");
  place.replaceChildren();
  const top = node("div", "row top", place);
  node("p", "label", top);
  const flag = placed("flag", told.moment, node("div", "plot", top), told.why);
  flag.classList.toggle("late", told.moment > 0.5);
  for (const row of told.rows) drawRow(row, told.moment, place);
  const axis = node("div", "row ticks", place);
  axis.setAttribute("aria-hidden", "true");
  node("p", "label", axis, WORDS.seconds);
  const plot = node("div", "plot", axis);
  for (const [x, second] of told.ticks) placed("tick", x, plot, String(second));
  coupDrawn = told.coup;
  showWhose();
}

// Write only what has changed, so that a tile does not move while somebody reads it.
function showTiles(tiles) {
  const place = element("tiles");
  const key = JSON.stringify(tiles);
  if (place.shown === key) return;
  place.shown = key;
  place.replaceChildren(...tiles.map((tile) => {
    const made = node("li", `tile ${tile.level}`);
    const name = node("span", "name", made, tile.name);
    if (tile.said) node("b", "", name, ` · ${tile.said}`);
    node("strong", "", made, tile.value);
    if (tile.mend) node("span", "mend", made, tile.mend);
    return made;
  }));
}

function showWheel(wheel) {
  for (const id of ["state", "bets", "coup", "bouler", "waiting"]) {
    show(id, wheel[`${id}_words`] ?? wheel[id]);
  }
  write("ritual", wheel.ritual);
  showNumbers(wheel);
  showVoid(wheel.void);
  show("ruling", wheel.ruling);
  fill("late-bets", wheel.late_bets.map((text) => node("li", "", null, text)));
  failing = wheel.failing;
  showTiles(wheel.tiles);
}

follow("/events", {
  wheel: showWheel,
  about: drawWheel,
  frame: showFrame,
  evidence: showEvidence,
  blind: goBlind,
});
