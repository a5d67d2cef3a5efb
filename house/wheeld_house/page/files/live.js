"use strict";
// This script updates the page every few seconds, without loading it again. It changes only what differs, so that
// nothing flashes, and the focus and a selected text stay.

const EVERY_MS = 3000;
const PATIENCE_MS = 10000;
const live = document.getElementById("live");
const lost = document.getElementById("lost");

function patch(old, fresh) {
  if (old.isEqualNode(fresh)) return;
  const same = old.nodeType === fresh.nodeType && old.nodeName === fresh.nodeName;
  if (!same) {
    old.replaceWith(fresh);
  } else if (old.nodeType !== Node.ELEMENT_NODE) {
    old.nodeValue = fresh.nodeValue;
  } else {
    for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
    for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    children(old, fresh);
  }
}

// A tile keeps its element, found by its id, when other tiles come or go before it.
function children(old, fresh) {
  const known = new Map([...old.children].filter(({ id }) => id).map((node) => [node.id, node]));
  let place = old.firstChild;
  for (const node of [...fresh.childNodes]) {
    const same = node.id ? known.get(node.id) : place?.id ? null : place;
    if (!same) {
      old.insertBefore(node, place);
    } else {
      if (same === place) place = place.nextSibling;
      else old.insertBefore(same, place);
      patch(same, node);
    }
  }
  while (place) {
    const next = place.nextSibling;
    place.remove();
    place = next;
  }
}

function update(fresh) {
  const focused = live.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  children(live, fresh);
  if (focused && !live.contains(document.activeElement)) {
    [...live.querySelectorAll("a")].find((link) => link.getAttribute("href") === focused)?.focus({ preventScroll: true });
  }
}

async function refresh() {
  if (document.visibilityState === "visible") {
    try {
      const address = new URL(location.href);
      address.searchParams.set("part", "");
      const answer = await fetch(address, { redirect: "error", signal: AbortSignal.timeout(PATIENCE_MS) });
      if (!answer.ok) throw new Error(String(answer.status));
      const fresh = new DOMParser().parseFromString(`<div>${await answer.text()}</div>`, "text/html").body.firstChild;
      fresh.prepend("\n");
      fresh.append("\n");
      update(fresh);
      lost.hidden = true;
    } catch {
      lost.hidden = false;
    }
  }
  setTimeout(refresh, EVERY_MS);
}

setTimeout(refresh, EVERY_MS);
