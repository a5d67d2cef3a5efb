// The chef's panel: the commands that are possible now, and the wheel's answers.
"use strict";

const CASES = ["same_direction", "early_launch", "too_few_laps", "rotor_stopped", "foreign_object"];
const ANSWERS_MAX = 20;
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

async function send(offer, more) {
  const item = answer(offer.label, "sent", "");
  const body = { by: person(), reason: element("reason").value.trim() || WORDS.reason_default, ...more };
  if (offer.without.length) body.without = offer.without;
  let told;
  try {
    const response = await fetch(`/chef/commands/${offer.name}?lang=${DATA.language}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    if (response.status === 403) location.reload();
    told = response.ok ? await response.json() : { done: null, unsent: await response.text() };
  } catch (error) {
    told = { done: null };
  }
  item.remove();
  if (told.unsent) answer(offer.label, "unsent", "").textContent = `${offer.label}: ${say("unsent", { why: told.unsent })}`;
  else if (told.done === null) answer(offer.label, "unanswered", "");
  else answer(offer.label, told.done ? "done" : "refused", told.why);
}

function ask(text) {
  const dialog = element("sure");
  element("sure-text").textContent = text;
  return new Promise((resolve) => {
    const end = (isSure) => {
      dialog.close();
      resolve(isSure);
    };
    element("sure-yes").onclick = () => end(true);
    element("sure-no").onclick = () => end(false);
    dialog.oncancel = () => resolve(false);
    dialog.showModal();
    element("sure-no").focus();
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
    if (offer.needs === "number") Object.assign(input, { type: "number", min: 0, max: 36, inputMode: "numeric" });
    else Object.assign(input, { maxLength: 64 });
  }
  input.name = offer.needs;
  label.append(input);
  return label;
}

function given(offer, form) {
  const more = {};
  const value = offer.needs === null ? "" : form.elements[offer.needs].value.trim();
  if (value !== "") more[offer.needs] = offer.needs === "number" ? Number(value) : value;
  // What a chef confirms or declares void is the coup that he sees: another may have come meanwhile.
  if (offer.name === "confirm" || offer.name === "rien_va") more.coup = now.coup;
  return more;
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
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const told = given(offer, form);
    if (press.ariaDisabled === "true") return; // pressed twice
    if (offer.is_grave) {
      const isSure = await ask(`${offer.label}: ${offer.does}`);
      focusOffer(offer.name);
      if (!isSure) return;
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

function showOffers(offers) {
  const wanted = JSON.stringify(offers);
  if (wanted === drawn) return;
  drawn = wanted;
  const focused = document.activeElement?.dataset?.command;
  element("offers").replaceChildren(...offers.map(button));
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
  showPerson();
});

follow("/chef/events", {
  wheel: (wheel) => {
    now = wheel;
    const isSame = wheel.ritual.toLowerCase() === wheel.state_words.toLowerCase();
    write("ritual", isSame ? wheel.ritual : [wheel.ritual, wheel.state_words].filter(Boolean).join(" · "));
    show("waiting", wheel.waiting);
    show("number", wheel.number?.number);
    element("number").className = `number ${wheel.number?.colour ?? ""}`;
    showOffers(wheel.offers);
  },
});
showPerson();
