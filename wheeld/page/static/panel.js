// A panel, of the chef or of the bouler: the commands that he can give now, and the wheel's answers.
"use strict";

const CASES = ["same_direction", "early_launch", "too_few_laps", "rotor_stopped", "foreign_object"];
const ANSWERS_MAX = 20;
const ANSWER_MS_MAX = 20000; // the server waits 15 s for the wheel
const SETTLE_MS = 500; // a new button takes no press for so long: a double touch must not press the next button, too
const DEAD_MS = 700; // a question takes no answer for so long: the second touch must not answer it
const APART_PX = 8; // the distance between a button and its question
let now = null; // the newest data about the wheel
let drawn = ""; // the offers that the page shows
let seenTop = 0; // where the offers were last seen, in px from the top
const waits = new WeakMap(); // the timer of each button that takes no press yet

function person() {
  return sessionStorage.getItem("by") || "";
}

function showPerson() {
  const by = person();
  element("person").hidden = by !== "";
  element("panel").hidden = by === "";
  element("acting").textContent = by;
  if (by === "") element("by").focus();
}

function answer(label, word, why) {
  const item = document.createElement("li");
  const time = new Date().toLocaleTimeString(DATA.language);
  item.className = word;
  item.textContent = `${time} ${label}: ${WORDS[word]}${why ? `. ${why}` : ""}`;
  const list = element("answers");
  list.prepend(item);
  while (list.children.length > ANSWERS_MAX) list.lastChild.remove();
  return item;
}

// A press counts from its beginning. If a finger or a key went down while the button took no press, or while another
// button was in this place, the button does nothing when the finger or the key goes up. A click without a finger or a
// key (from a screen reader) counts at once. A key that is held down does not press the next button.
function onPress(press, act) {
  let isMeant = false;
  press.onpointerdown = () => (isMeant = press.ariaDisabled !== "true");
  press.onkeydown = (event) => {
    const isStill = event.repeat || press.ariaDisabled === "true";
    if (isStill && ["Enter", " "].includes(event.key)) event.preventDefault();
  };
  press.onclick = (event) => {
    const isPointed = event.detail > 0;
    if (press.ariaDisabled !== "true" && (isMeant || !isPointed)) act();
  };
}

// A browser may send a request again if its connection broke. The server recognises the copy by this value.
function newPress() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function send(offer, more) {
  const item = answer(offer.label, "sent", "");
  const body = { press: newPress(), seen_s: now.seen_s, by: person(), reason: WORDS.reason_default, ...more };
  if (offer.without.length) body.without = offer.without;
  if (offer.announced) body.announced = true;
  let told;
  try {
    const response = await fetch(`/${DATA.role}/commands/${offer.name}?lang=${DATA.language}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    if (response.status === 403) location.assign(`/${DATA.role}?lang=${DATA.language}&why=again`);
    told = response.ok ? await response.json() : { done: null, unsent: await response.text() };
  } catch (error) {
    told = { done: null };
  }
  item.remove();
  if (told.unsent) answer(offer.label, "unsent", "").textContent = `${offer.label}: ${say("unsent", { why: told.unsent })}`;
  else if (told.done === null) answer(offer.label, "unanswered", "");
  else answer(offer.label, told.done ? "done" : "refused", told.why);
}

// Ask what a person adds to a command, and why. Returns null if he does not want the command. The question is at a
// distance from the button that opened it, so a second touch of that button cannot answer the question.
function ask(offer, press) {
  const [dialog, yes, no, why, whys] = ["sure", "sure-yes", "sure-no", "why", "whys"].map(element);
  const more = field(offer);
  const input = more?.lastChild;
  let isDead = true;
  const weigh = () => {
    const isMissing = (offer.is_grave && why.value.trim() === "") || (input && !isWhole(input));
    for (const press of [no, ...whys.children]) press.ariaDisabled = String(isDead);
    yes.ariaDisabled = String(isDead || isMissing);
    yes.textContent = offer.answer.replace("{number}", input?.value.trim() || "…");
  };
  const choice = (text) => {
    const item = document.createElement("button");
    Object.assign(item, { type: "button", textContent: text });
    onPress(item, () => {
      why.value = text;
      weigh();
    });
    return item;
  };
  const usual = Object.keys(WORDS).filter((key) => key.startsWith(`why_${offer.name}_`));
  element("sure-title").textContent = `${now.table} · ${offer.label}`;
  element("given").replaceChildren(...[more].filter(Boolean));
  whys.replaceChildren(...usual.map((key) => choice(WORDS[key])));
  yes.className = offer.is_grave ? "grave" : "";
  why.value = "";
  why.oninput = element("given").oninput = weigh;
  weigh();
  const read = setTimeout(() => {
    isDead = false;
    weigh();
  }, DEAD_MS);
  return new Promise((resolve) => {
    const end = (told) => {
      clearTimeout(read);
      dialog.close();
      resolve(told);
    };
    onPress(yes, () => end({ ...given(input), reason: why.value.trim() || WORDS.reason_default }));
    onPress(no, () => end(null));
    dialog.oncancel = () => end(null);
    dialog.showModal();
    place(dialog, press);
    no.focus({ preventScroll: true });
  });
}

// Show the question below the button, because the number and the state are above it. If there is too little room, use
// the side with more room.
function place(dialog, press) {
  const { top, bottom } = press.getBoundingClientRect();
  const below = innerHeight - bottom;
  dialog.style.maxHeight = "none";
  const isAbove = dialog.offsetHeight > below - 2 * APART_PX && top > below;
  dialog.className = isAbove ? "above" : "below";
  dialog.style.maxHeight = `${(isAbove ? top : below) - 2 * APART_PX}px`;
}

function field(offer) {
  if (offer.needs === null) return null;
  const label = document.createElement("label");
  const key = { number: "number", case: "case", who: offer.announced ? "launches_next" : "launches", accepted: "late" }[offer.needs];
  label.append(`${WORDS[key]} `);
  let input;
  if (offer.needs === "case") {
    input = document.createElement("select");
    input.add(new Option(WORDS.no_case, ""));
    CASES.forEach((name) => input.add(new Option(WORDS[`case_${name}`], name)));
  } else if (offer.needs === "accepted") {
    input = document.createElement("select");
    input.add(new Option("…", ""));
    input.add(new Option(WORDS.accepted, "true"));
    input.add(new Option(WORDS.refused_bet, "false"));
    input.required = true;
  } else {
    input = document.createElement("input");
    if (offer.needs === "number") Object.assign(input, { maxLength: 2, pattern: "[0-9]+", inputMode: "numeric" });
    else Object.assign(input, { maxLength: 64, value: offer.who ?? "" });
    input.required = true;
  }
  input.name = offer.needs;
  label.append(input);
  return label;
}

function isWhole(input) {
  return input.checkValidity() && !(input.required && input.value.trim() === "");
}

function given(input) {
  const value = input?.value.trim() || "";
  const read = { number: asNumber, accepted: (choice) => choice === "true" }[input?.name];
  return value === "" ? {} : { [input.name]: read ? read(value) : value };
}

function asNumber(value) {
  return String(Number(value)) === value ? Number(value) : value; // "00" is printed in a pocket, but is not a number
}

function button(offer) {
  const press = document.createElement("button");
  Object.assign(press, { type: "button", className: offer.is_grave ? "grave" : "" });
  press.dataset.command = offer.name;
  press.dataset.asks = String(offer.is_grave || offer.needs !== null);
  for (const [tag, text] of [["strong", offer.label], ["small", offer.does]]) {
    press.append(Object.assign(document.createElement(tag), { textContent: text }));
  }
  onPress(press, async () => {
    // The offers have moved, and the observer hears of it only with the next picture: this press was not for this button.
    if (press.dataset.asks === "false" && element("offers").offsetTop !== seenTop) return settleOffers();
    // The person means the coup that he sees. Another coup may begin before he answers the question.
    const told = { coup: now.coup };
    if (offer.number !== null) told.number = asNumber(offer.number);
    if (press.dataset.asks === "true") {
      const more = await ask(offer, press);
      settle(document.querySelectorAll("#offers [data-command]"));
      focusOffer(offer.name);
      if (more === null) return;
      Object.assign(told, more);
    }
    press.dataset.sent = "";
    press.ariaDisabled = "true"; // a disabled button would lose the focus
    await send(offer, told);
    delete press.dataset.sent;
    settle([press]);
  });
  return press;
}

function focusOffer(name) {
  (document.querySelector(`[data-command="${name}"]`) || document.querySelector("[data-command]"))?.focus();
}

// If a button has to wait twice, the second wait counts.
function settle(buttons) {
  for (const press of buttons) {
    press.ariaDisabled = "true";
    clearTimeout(waits.get(press));
    waits.set(
      press,
      setTimeout(() => (press.ariaDisabled = String("sent" in press.dataset)), SETTLE_MS),
    );
  }
}

function settleOffers() {
  seenTop = element("offers").offsetTop;
  settle(document.querySelectorAll("#offers [data-asks=false]")); // the other buttons ask a question first
}

function showOffers(offers) {
  const wanted = JSON.stringify([now.coup, offers]); // in another coup, the same offers need new buttons
  if (wanted === drawn) return;
  drawn = wanted;
  const focused = document.activeElement?.dataset?.command;
  element("offers").replaceChildren(...offers.map(button));
  settleOffers();
  element("nothing").hidden = offers.length > 0;
  // A person who uses the keyboard keeps his place, or gets the first button.
  if (focused) focusOffer(focused);
}

function showSensors(sensors) {
  const light = (sensor) => Object.assign(document.createElement("i"), { className: sensor.ok ? "works" : "fails" });
  element("lights").replaceChildren(...sensors.map(light));
  const failing = sensors.filter((sensor) => !sensor.ok).map((sensor) => `${sensor.name}: ${WORDS.fails}`);
  show("sensors", sensors.length && !failing.length ? WORDS.all_work : failing.join(", "));
}

element("person").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("by", element("by").value.trim());
  showPerson();
});
element("change").addEventListener("click", () => {
  sessionStorage.removeItem("by");
  element("by").value = "";
  showPerson();
});

// If the parts above the offers grow or shrink, the offers move. Then a press could hit a wrong button.
const above = new ResizeObserver(settleOffers);
document.querySelectorAll("header, .bar, .acting, .figures, .health").forEach((part) => above.observe(part));

follow(`/${DATA.role}/events`, {
  wheel: (wheel) => {
    now = wheel;
    element("mute").hidden = !wheel.mute;
    const isSaid = wheel.ritual.toLowerCase().includes(wheel.state_words.toLowerCase());
    write("ritual", isSaid ? wheel.ritual : [wheel.ritual, wheel.state_words].filter(Boolean).join(" · "));
    write("cause", wheel.cause);
    show("waiting", wheel.waiting);
    const shown = wheel.awaited ?? wheel.number;
    show("number", shown?.number);
    // While a coup runs, this is the number of the coup before it.
    const isPast = !wheel.awaited && !["operations", "faites_vos_jeux", "closed"].includes(wheel.state);
    element("number").className = `number ${shown?.colour ?? ""} ${isPast ? "past" : ""} ${wheel.awaited ? "awaited" : ""}`;
    showNumbers(wheel);
    show("void", wheel.void && `${wheel.void.words} (${wheel.void.coup}): ${wheel.void.why}`);
    showSensors(wheel.sensors);
    show("bouler", wheel.bouler);
    showOffers(wheel.offers);
  },
});
showPerson();
