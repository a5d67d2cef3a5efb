// The live page: the wheel as its sensors see it.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const LIT_MS = 250; // a beam that fired stays lit so long, for eyes
const LABEL_GAP = 12; // between the names of the rows and what is drawn of them
const bowl = element("bowl");
let about = null;
let rotor = null; // the turning group
let ball = null;
let beams = [];
let readers = [];
let lastBeam = null;
let lastSeen = "";

function draw(tag, attributes, parent, text) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  parent.appendChild(node);
  return node;
}

// Degrees clockwise from the top, as the sensors' angles are.
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
  if (!node) return;
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

function showBall(glance) {
  const turned = glance.rotor_deg ?? 0;
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

function showFrame(frame) {
  element("blind").hidden = true;
  if (!about) return;
  for (const [, kind, number] of frame.seen) {
    if (kind === "beam") {
      lastBeam = number;
      light(beams[number]);
    } else if (kind === "reader") light(readers[number]);
  }
  const glance = frame.glance;
  if (glance.rotor_deg !== null) rotor.setAttribute("transform", `rotate(${glance.rotor_deg})`);
  showBall(glance);
  const rpm = glance.rotor_rpm;
  show("speed", rpm === null ? WORDS.unknown : rpm === 0 ? WORDS.stands : say("rpm", { value: `${Math.abs(rpm)} ${rpm < 0 ? "↺" : "↻"}` }));
  show("laps", glance.laps);
  const key = glance.ball === "at_rest" && glance.number === null ? "" : `ball_${glance.ball}`;
  const seen = key ? say(key, { number: about.labels[about.pockets.indexOf(glance.number)] }) : "";
  if (seen !== lastSeen) element("seen").textContent = lastSeen = seen;
}

function showVoid(told) {
  write("void", told === null ? WORDS.no_void : `${WORDS.coup} ${told.coup}: ${told.words} — ${told.why}`);
}

// One row for each sensor that saw something, one for the rotor's speed and one for words, on one axis of time.
function showAxis(axis) {
  const svg = element("axis");
  const rows = [];
  const row = (name) => {
    if (!rows.includes(name)) rows.push(name);
    return rows.indexOf(name);
  };
  const label = (kind, number) => (kind in WORDS ? say(kind, { number: number + 1 }) : kind);
  [...axis.marks].sort((a, b) => a[1].localeCompare(b[1]) || a[2] - b[2]).forEach(([, kind, number]) => row(label(kind, number)));
  const width = 640;
  const span = Math.max(1, axis.to_us - axis.from_us);
  const speeds = rows.length;
  const words = speeds + 3;
  const height = (words + 1 + axis.notes.length) * 18 + 30;
  const most = Math.max(10, ...axis.rpm.map(([, rpm]) => Math.abs(rpm)));
  const base = (speeds + 2) * 18;
  svg.replaceChildren();
  svg.removeAttribute("hidden"); // what is not shown has no width
  draw("title", {}, svg, `${WORDS.coup} ${axis.coup}: ${WORDS.evidence}`);
  const labels = rows.map((name, index) => [name, index * 18 + 16]);
  labels.push([`${WORDS.rotor} (${Math.round(most)})`, base], [WORDS.seconds, base + 20]);
  const drawn = labels.map(([name, y]) => draw("text", { x: 0, y, class: "row" }, svg, name));
  // As wide as the longest, in whatever language and letters.
  const left = Math.ceil(Math.max(...drawn.map((node) => node.getComputedTextLength()))) + LABEL_GAP;
  const x = (us) => left + ((us - axis.from_us) / span) * width;
  svg.setAttribute("viewBox", `0 0 ${left + width + 20} ${height}`);
  for (const [us, kind, number] of axis.marks) {
    const y = row(label(kind, number)) * 18 + 6;
    draw("line", { x1: x(us), x2: x(us), y1: y, y2: y + 12, class: `mark ${kind}` }, svg);
  }
  const line = axis.rpm.map(([us, rpm]) => `${x(us)},${base - (Math.abs(rpm) / most) * 30}`).join(" ");
  draw("polyline", { points: line, class: "speed" }, svg);
  draw("line", { x1: left, x2: left + width, y1: base + 4, y2: base + 4, class: "ground" }, svg);
  for (let second = 0; second * 1e6 <= span; second += Math.max(1, Math.round(span / 10e6))) {
    draw("text", { x: x(axis.from_us + second * 1e6), y: base + 20, class: "tick" }, svg, String(second));
  }
  axis.notes.forEach(([us, kind, text], index) => {
    const y = base + 40 + index * 18;
    draw("line", { x1: x(us), x2: x(us), y1: 4, y2: y - 4, class: "note-line" }, svg);
    const told = kind === "word" ? text : `${text} ${WORDS[kind]}`;
    const isLate = x(us) > left + width / 2;
    draw("text", { x: x(us) + (isLate ? -4 : 4), y, class: "row", "text-anchor": isLate ? "end" : "start" }, svg, told);
  });
  element("no-axis").hidden = true;
}

function showHealth(health) {
  if (health === null) return;
  const wrong = health.sensors.filter((sensor) => !sensor.ok || sensor.troubles.length);
  const told = wrong.map((sensor) => `${sensor.name}: ${sensor.ok ? "" : WORDS.fails} ${sensor.troubles.join("; ")}`);
  show("sensors", wrong.length ? told.join(". ") : WORDS.all_work);
  show("outbox", health.outbox);
  const clock = [health.synchronised ? WORDS.synchronised : WORDS.not_synchronised];
  if (health.clock_error_ms !== null) clock.push(say("clock_error", { error: health.clock_error_ms }));
  show("clock", clock.join(", "));
  show("temperature", health.temperature_c === null ? null : `${health.temperature_c} °C`);
  show("age", health.age_s === null ? null : say("ago", { count: health.age_s }));
}

function showWheel(wheel) {
  for (const id of ["state", "bets", "coup", "bouler", "waiting"]) {
    show(id, wheel[`${id}_words`] ?? wheel[id]);
  }
  write("ritual", wheel.ritual);
  showNumbers(wheel);
  showVoid(wheel.void);
  show("broker", wheel.reached ? WORDS.reached : WORDS.not_reached);
  show("head", wheel.head === null ? null : say("head_of", wheel.head));
  showHealth(wheel.health);
}

follow("/events", {
  wheel: showWheel,
  about: drawWheel,
  frame: showFrame,
  axis: showAxis,
  blind: () => {
    element("blind").hidden = false;
    show("speed", null);
    show("laps", null);
  },
});
