// Brings the page to life: what the build has drawn, or what the address asks for instead.
import { hydrate, render } from "preact";
import { Page } from "./page.tsx";
import { brought } from "./shared/brought.ts";
import { remember, type Record } from "./shared/record.ts";

// Without it the page asks its engine, as it does for everything else.
const response = brought() ? undefined : await fetch(new URL(`./record.json`, import.meta.url)).catch(() => undefined);
if (response?.ok) remember((await response.json()) as Record);

const place = document.getElementById("root");
if (place) {
  // The build has drawn the page as nobody has touched it.
  if (location.hash.length < 2 && !brought()) hydrate(<Page />, place);
  else {
    place.replaceChildren();
    render(<Page />, place);
  }
}

// The address is the state of the page, so this link must not change it.
document.getElementById("skip")?.addEventListener("click", (event) => {
  event.preventDefault();
  document.getElementById("page")?.focus();
});
