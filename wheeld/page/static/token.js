// This script shows why the server did not accept the token.
"use strict";

const why = new URLSearchParams(location.search).get("why");
if (["wrong_token", "wait_token", "again"].includes(why)) element("why").textContent = WORDS[why];
