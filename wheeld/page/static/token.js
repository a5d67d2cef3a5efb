// Why the token was not taken.
"use strict";

const why = new URLSearchParams(location.search).get("why");
if (why === "wrong_token" || why === "wait_token") element("why").textContent = WORDS[why];
