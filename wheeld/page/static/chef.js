// The chef's panel: the commands that are possible now, and the wheel's answers.
"use strict";

const CASES = ["same_direction", "early_launch", "too_few_laps", "rotor_stopped", "foreign_object"];
const ANSWERS_MAX = 20;
const ANSWER_MS_MAX = 20000; // the server waits 15 s for the wheel
const SETTLE_MS = 500; // the second touch of two does not meet the button that came in the place of the first
const DEAD_MS = 700; // nor an answer to the question that the first has opened
let now = null; // the newest that is known of the wheel
let drawn = ""; // which offers stand on the page

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

// A browser sends a request again whose connection broke: the server knows it by this.
function newPress() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function send(offer, more) {
  const item = answer(offer.label, "sent", "");
  const typed = element("reason").value;
  const body = { press: newPress(), seen_s: now.seen_s, by: person(), reason: typed.trim() || WORDS.reason_default, ...more };
  if (offer.without.length) body.without = offer.without;
  let told;
  try {
    const response = await fetch(`/chef/commands/${offer.name}?lang=${DATA.language}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    if (response.status === 403) location.assign(`/chef?lang=${DATA.language}&why=again`);
    told = response.ok ? await response.json() : { done: null, unsent: await response.text() };
  } catch (error) {
    told = { done: null };
  }
  item.remove();
  // The reason of one command is not that of the next.
  if (told.done && element("reason").value === typed) element("reason").value = WORDS.reason_default;
  if (told.unsent) answer(offer.label, "unsent", "").textContent = `${offer.label}: ${say("unsent", { why: told.unsent })}`;
  else if (told.done === null) answer(offer.label, "unanswered", "");
  else answer(offer.label, told.done ? "done" : "refused", told.why);
}

// The reason for what ends a coup or play; null: do nothing. The question stands in the other half of the screen than the
// button that opened it.
function ask(offer, press) {
  const [dialog, yes, no, why] = ["sure", "sure-yes", "sure-no", "why"].map(element);
  let isDead = true;
  const weigh = () => {
    no.ariaDisabled = String(isDead);
    yes.ariaDisabled = String(isDead || why.value.trim() === "");
  };
  const choice = (text) => {
    const item = document.createElement("button");
    Object.assign(item, { type: "button", textContent: text });
    item.onclick = () => {
      if (!isDead) why.value = text;
      weigh();
    };
    return item;
  };
  const usual = Object.keys(WORDS).filter((key) => key.startsWith(`why_${offer.name}_`));
  const place = press.getBoundingClientRect();
  dialog.className = place.top + place.bottom > innerHeight ? "above" : "below";
  element("sure-title").textContent = say("sure", { table: now.table });
  element("whys").replaceChildren(...usual.map((key) => choice(WORDS[key])));
  yes.textContent = `${offer.label} – ${offer.does}`;
  why.value = "";
  why.oninput = weigh;
  weigh();
  const read = setTimeout(() => {
    isDead = false;
    weigh();
  }, DEAD_MS);
  return new Promise((resolve) => {
    const end = (reason) => {
      clearTimeout(read);
      dialog.close();
      resolve(reason);
    };
    yes.onclick = () => yes.ariaDisabled === "true" || end(why.value.trim());
    no.onclick = () => isDead || end(null);
    dialog.oncancel = () => end(null);
    dialog.showModal();
    no.focus();
  });
}

function field(offer) {
  if (offer.needs === null) return null;
  const label = document.createElement("label");
  const key = { number: "number", case: "case", who: "launches" }[offer.needs];
  label.append(`${WORDS[key]} `);
  let input;
  if (offer.needs === "case") {
    input = document.createElement("select");
    input.add(new Option(WORDS.no_case, ""));
    CASES.forEach((name) => input.add(new Option(WORDS[`case_${name}`], name)));
  } else {
    input = document.createElement("input");
    if (offer.needs === "number") Object.assign(input, { maxLength: 2, pattern: "[0-9]*", inputMode: "numeric" });
    else Object.assign(input, { maxLength: 64 });
  }
  input.name = offer.needs;
  label.append(input);
  return label;
}

function given(offer, form) {
  const more = {};
  const value = offer.needs === null ? "" : form.elements[offer.needs].value.trim();
  const isNumber = offer.needs === "number" && String(Number(value)) === value; // "00" is printed in a pocket, and no number
  if (value !== "") more[offer.needs] = isNumber ? Number(value) : value;
  // He means the coup that he sees: another may have come before he has said that he is sure.
  return { ...more, coup: now.coup };
}

function button(offer) {
  const form = document.createElement("form");
  form.className = "offer";
  const press = document.createElement("button");
  press.type = "submit";
  press.className = offer.is_grave ? "grave" : "";
  press.dataset.command = offer.name;
  press.textContent = offer.label;
  const does = document.createElement("p");
  does.id = `does-${offer.name}`;
  does.textContent = offer.does;
  press.setAttribute("aria-describedby", does.id);
  const more = field(offer);
  if (more && offer.needs === "who") more.lastChild.required = true;
  form.append(...[more, press, does].filter(Boolean));
  // A key that is held goes on from button to button.
  form.addEventListener("keydown", (event) => {
    if (event.repeat && event.key === "Enter") event.preventDefault();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const told = given(offer, form);
    if (press.ariaDisabled === "true") return; // pressed twice
    if (offer.is_grave) {
      const reason = await ask(offer, press);
      focusOffer(offer.name);
      if (reason === null) return;
      told.reason = reason;
    }
    press.ariaDisabled = "true"; // a button that is disabled would lose the focus
    await send(offer, told);
    press.ariaDisabled = "false";
  });
  return form;
}

function focusOffer(name) {
  (document.querySelector(`[data-command="${name}"]`) || document.querySelector("[data-command]"))?.focus();
}

function settle(buttons) {
  buttons.forEach((press) => (press.ariaDisabled = "true"));
  setTimeout(() => buttons.forEach((press) => (press.ariaDisabled = "false")), SETTLE_MS);
}

function showOffers(offers) {
  const wanted = JSON.stringify(offers);
  if (wanted === drawn) return;
  drawn = wanted;
  const focused = document.activeElement?.dataset?.command;
  element("offers").replaceChildren(...offers.map(button));
  settle(document.querySelectorAll("#offers [data-command]:not(.grave)")); // those ask again anyway
  element("nothing").hidden = offers.length > 0;
  // Who works with the keyboard stays where he was, or at the first button.
  if (focused) focusOffer(focused);
}

element("person").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("by", element("by").value.trim());
  showPerson();
});
element("change").addEventListener("click", () => {
  sessionStorage.removeItem("by");
  element("by").value = "";
  element("reason").value = WORDS.reason_default;
  showPerson();
});

follow("/chef/events", {
  wheel: (wheel) => {
    now = wheel;
    element("mute").hidden = !wheel.mute;
    const isSaid = wheel.ritual.toLowerCase().includes(wheel.state_words.toLowerCase());
    write("ritual", isSaid ? wheel.ritual : [wheel.ritual, wheel.state_words].filter(Boolean).join(" · "));
    show("waiting", wheel.waiting);
    show("number", wheel.number?.number);
    // While a coup runs it is that of the one before.
    const isPast = !["operations", "faites_vos_jeux", "closed"].includes(wheel.state);
    element("number").className = `number ${wheel.number?.colour ?? ""} ${isPast ? "past" : ""}`;
    showOffers(wheel.offers);
  },
});
showPerson();
