// What the page looks like: in three windows, by day and by night, in the system's colours, enlarged, and to axe.
import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { gunzipSync } from "node:zlib";
import { long, root } from "./harness.mjs";
import { DESKTOP, PHONE, WIDE, accessible, choose, fits, onePrompt, picture, prepare, shows, unfold, until } from "./page.mjs";

/** A session that Codex recorded itself. */
const codex = gunzipSync(await readFile(join(root, "tests/package/fixtures/audit/rollout-codex-long.jsonl.gz"))).toString();
const WINDOWS = { 1440: WIDE, 1280: DESKTOP, 390: PHONE };
/** Where things stand depends on the window, and colours on the scheme: each window and either scheme once, and every pair with `--long`. */
const USUAL = { 1440: ["dark"], 1280: ["light"], 390: ["dark"] };
const isEveryPair = long || process.env.CONTEXTWEAVER_UPDATE_IMAGES === "1";

/** A picture from the top, without the focus that clicks leave behind. */
async function shot(tab, name, options) {
  await tab.evaluate(() => {
    document.activeElement.blur();
    scrollTo(0, 0);
  });
  await picture(tab, name, options);
}

for (const [name, viewport] of Object.entries(WINDOWS)) {
  for (const colorScheme of isEveryPair ? ["light", "dark"] : USUAL[name]) {
    test(`Page: looks, ${name}, ${colorScheme}`, async (t) => {
      const { open } = (await prepare(t)) ?? {};
      if (!open) return;
      const options = { viewport, colorScheme, reducedMotion: "reduce" };
      // Axe takes its time, and says the same of every size and either scheme but for the colours, which `fits` looks at.
      const examine = name === "1280" && colorScheme === "light" ? accessible : fits;

      await t.test("session", async (t) => {
        const tab = await open(t, options);
        await shows(tab, "#call-title", /a cut/);
        await examine(tab);
        await choose(tab, "context", "rollout-codex.jsonl", codex);
        await shows(tab, "#headline", /47 model calls: \$0\.24 instead of \$0\.35/);
        await tab.click("#cut-after");
        await shows(tab, "#left-here", /its handle stands there/);
        await shows(tab, "#cuts", /by handle/);
        await shot(tab, `context-${name}-${colorScheme}`);
        await examine(tab);
      });

      await t.test("one prompt", async (t) => {
        const tab = await onePrompt(open, t, options);
        await shows(tab, "#why-answer", /stays down to/);
        await until(() => tab.locator(".list").first().getAttribute("aria-rowcount"), /^140$/);
        await shot(tab, `prompt-${name}-${colorScheme}`);
        await examine(tab);
        await unfold(tab, "#whole-prompt");
        await shows(tab, "#prompt", /POLICY/);
        await unfold(tab, "#ledger");
        await unfold(tab, "#rules-in-force");
        await examine(tab);
      });

      await t.test("tools", async (t) => {
        const tab = await open(t, { ...options, fragment: "#tab=tools", first: ["#tools-status", /232 tools/] });
        await tab.locator(".ranking .link").first().click();
        await shows(tab, "#tool", /mcp:/);
        await examine(tab);
        await shot(tab, `tools-${name}-${colorScheme}`);
        await tab.click("#said-before summary");
        await tab.click('button:text-is("and for the lamps?")');
        await shows(tab, "#completed", /and for the lamps/);
        await examine(tab);
        await shot(tab, `tools-follow-up-${name}-${colorScheme}`);
        for (const [view, found] of Object.entries({ gateway: /tokens →/, tree: /filesystem/, lint: /findings/, drift: /Nothing to compare/ })) {
          await tab.click(`#tview-tab-${view}`);
          await shows(tab, `#tview-panel-${view}`, found);
          if (view === "tree") await tab.locator(".tree .group").first().click();
          if (view === "drift") {
            await tab.selectOption("#before-sample", "filesystem-before");
            await shows(tab, "#drift-count", /changed/);
          }
          await examine(tab);
        }
      });

      await t.test("decisions", async (t) => {
        const tab = await open(t, { ...options, fragment: "#tab=decisions", first: ["#decision-count", /similar/] });
        await tab.locator(".ranking .link").first().click();
        await shows(tab, "#decision", /Learned/);
        await examine(tab);
        await shot(tab, `decisions-${name}-${colorScheme}`);
        for (const [view, found] of Object.entries({ guardrails: /must not be done/, calibration: /less often right/, graph: /with 17 links/ })) {
          await tab.click(`#dview-tab-${view}`);
          await shows(tab, `#dview-panel-${view}`, found);
          await examine(tab);
          await shot(tab, `decisions-${view}-${name}-${colorScheme}`);
        }
      });

      await t.test("MCP", async (t) => {
        const tab = await open(t, { ...options, fragment: "#tab=mcp", first: ["#envelope", /Checkout/] });
        await examine(tab);
        await shot(tab, `mcp-${name}-${colorScheme}`);
        await tab.click("#mview-tab-tool");
        await shows(tab, "#mtool-item", /edit_file/);
        await fits(tab);
        await tab.click("#mview-tab-meta");
        await shows(tab, "#meta", /crosses/);
        await examine(tab);
      });
    });
  }
}

test("Page: everybody can use it", async (t) => {
  const { open } = (await prepare(t)) ?? {};
  if (!open) return;

  await t.test("in the colours of the system, states still differ in form", async (t) => {
    const tab = await onePrompt(open, t, { forcedColors: "active" });
    await shows(tab, "#why-answer", /stays down to/);
    const styles = await tab.evaluate(() => {
      const of = (selector, property) => getComputedStyle(document.querySelector(selector))[property];
      return { box: of(".budget-box", "stroke"), segment: of(".segment rect", "stroke"), page: of("body", "backgroundColor") };
    });
    assert.notEqual(styles.box, styles.page);
    assert.notEqual(styles.segment, styles.page);
    await fits(tab);
    await picture(tab, "forced-colours");
  });

  await t.test("at twice the size nothing is cut off", async (t) => {
    // A window of half the size is what a page at 200 % has to lay out in.
    for (const fragment of ["", "#tab=context"]) {
      const tab = await open(t, { viewport: { width: DESKTOP.width / 2, height: DESKTOP.height / 2 }, deviceScaleFactor: 2, fragment });
      await shows(tab, fragment === "" ? "#call-title" : "#why-answer", /a cut|stays down to/);
      await fits(tab);
      const cut = await tab.evaluate(() =>
        [...document.querySelectorAll("h2, h3, button, .figures, .reason, .call-said p")]
          .filter((node) => node.checkVisibility() && node.scrollWidth > node.clientWidth + 1 && getComputedStyle(node).display !== "inline")
          .map((node) => node.outerHTML.slice(0, 80)),
      );
      assert.deepEqual(cut, []);
    }
  });

  await t.test("on 320 pixels, and with letters of twice the size, nothing is wider than the window", async (t) => {
    for (const [width, letters] of [
      [320, "100%"],
      [PHONE.width, "200%"],
      [DESKTOP.width, "200%"],
    ]) {
      const tab = await open(t, { viewport: { width, height: 900 } });
      await tab.evaluate((size) => void (document.documentElement.style.fontSize = size), letters);
      for (const [part, selector] of Object.entries({
        session: "#call-title",
        context: "#why-answer",
        tools: ".ranking .link",
        mcp: "#envelope",
        decisions: ".ranking .link",
      })) {
        if (!["session", "context"].includes(part)) await unfold(tab, "#more");
        await tab.click(`#tab-tab-${part}`);
        await shows(tab, `#panel-${part} ${selector}`, /\w/);
        const wide = await tab.evaluate(() => document.scrollingElement.scrollWidth);
        assert.ok(wide <= width, `${part}, letters of ${letters}: ${wide} pixels in a window of ${width}`);
      }
    }
  });

  await t.test("by keyboard alone, from the skip link to a call, and to the reason of an item", async (t) => {
    const tab = await open(t);
    await tab.keyboard.press("Tab");
    assert.equal(await tab.evaluate(() => document.activeElement.id), "skip");
    await tab.keyboard.press("Enter");
    assert.equal(await tab.evaluate(() => document.activeElement.id), "page");
    const reach = async (id) => {
      for (let i = 0; i < 60; i += 1) {
        await tab.keyboard.press("Tab");
        if ((await tab.evaluate(() => document.activeElement.id)) === id) return;
      }
      assert.fail(`${id} cannot be reached`);
    };
    await reach("tape");
    await tab.keyboard.press("Shift+ArrowRight");
    await shows(tab, "#call-title", /Call 38 of 44: a cut/);
    await tab.keyboard.press("Enter");
    await until(() => tab.evaluate(() => document.activeElement.id), /^call-title$/);
    await reach("prompt-sent");
    await tab.focus("#tab-tab-context");
    await tab.keyboard.press("Enter");
    await shows(tab, "#log-status", /139 items/);
    await reach("budget-answer");
    await tab.keyboard.press("ArrowLeft");
    await shows(tab, "#numbers-answer", /of 5,\d\d\d tokens/);
    await tab.focus(".items .list");
    await tab.keyboard.press("End");
    await shows(tab, "#item-title", /^i139/);
    await tab.keyboard.press("Enter");
    await until(() => tab.evaluate(() => document.activeElement.id), /^item-title$/);
  });

  await t.test("headings come in order, and targets have 24 pixels", async (t) => {
    for (const [viewport, fragment] of [DESKTOP, PHONE].flatMap((viewport) => [
      [viewport, ""],
      [viewport, "#tab=context"],
    ])) {
      const tab = await open(t, { viewport, fragment });
      await shows(tab, fragment === "" ? "#call-title" : "#why-answer", /a cut|stays down to/);
      const levels = await tab.evaluate(() =>
        [...document.querySelectorAll("h1, h2, h3, h4")].filter((node) => node.checkVisibility()).map((node) => Number(node.tagName[1])),
      );
      assert.equal(levels[0], 1);
      levels.forEach((level, at) => at > 0 && assert.ok(level <= levels[at - 1] + 1, levels.join()));
      const small = await tab.evaluate(() =>
        [...document.querySelectorAll("button, input:not(.unseen), select, summary, a, [role=slider]")]
          .filter((node) => node.checkVisibility() && !node.closest(".skip, p, li > code"))
          .map((node) => [node.getBoundingClientRect(), node.outerHTML.slice(0, 90)])
          .filter(([{ width, height }]) => width < 24 || height < 24)
          .map(([{ width, height }, html]) => `${Math.round(width)}x${Math.round(height)} ${html}`),
      );
      assert.deepEqual(small, []);
    }
  });
});

const NAMES = [
  "policy",
  "memory-fact",
  "plan-state",
  "user-turn",
  "agent-msg",
  "tool-call",
  "tool-result",
  "retrieved-doc",
  "doc-snippet",
  "header-and-footer",
];

/** What people see who lack one kind of cone, in linear light (Machado and others, severity 1). */
const EYES = {
  usual: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  deuteranopia: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  protanopia: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  tritanopia: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
};

const linear = (hex) =>
  [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255).map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
const seen = (rgb, eye) =>
  [0, 1, 2].map((row) =>
    Math.min(
      1,
      Math.max(
        0,
        [0, 1, 2].reduce((sum, column) => sum + eye[3 * row + column] * rgb[column], 0),
      ),
    ),
  );

function lightness([r, g, b]) {
  const y = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return y > 0.008856 ? 116 * Math.cbrt(y) - 16 : 903.3 * y;
}

function oklab([r, g, b]) {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

test("Page: colours are named in one file, and what is written in those of kinds can be read", async () => {
  const styles = await readdir(join(root, "www", "style"));
  for (const file of styles.filter((name) => name !== "tokens.css"))
    assert.doesNotMatch(await readFile(join(root, "www", "style", file), "utf8"), /#[0-9a-f]{3,8}\b(?=[^{]*;)/, file);
  const [tokens, parts] = await Promise.all(["tokens.css", "parts.css"].map((file) => readFile(join(root, "www", "style", file), "utf8")));
  const [light, dark] = tokens.split("prefers-color-scheme: dark");
  const [, above, atNight] = /^([^]*?)@media \(prefers-color-scheme: dark\) \{([^]*?)^\}/m.exec(parts);
  const letters = (css) =>
    [...css.matchAll(/((?:\.kind-\w+,?\s*)+)\{[^}]*--on-kind: var\(--(on-\w+)\)/g)].flatMap(([, names, on]) =>
      [...names.matchAll(/kind-(\w+)/g)].map(([, name]) => [name.replaceAll("_", "-"), on]),
    );
  const brightness = ([r, g, b]) => 0.2126 * r + 0.7152 * g + 0.0722 * b;
  for (const [scheme, text] of Object.entries({ light, dark })) {
    const on = new Map([...letters(above), ...(scheme === "dark" ? letters(atNight) : [])]);
    const colour = (name) => linear(new RegExp(`--${name}: (#[0-9a-f]{6});`).exec(text)?.[1] ?? new RegExp(`--${name}: (#[0-9a-f]{6});`).exec(light)[1]);
    for (const name of NAMES) {
      const [a, b] = [brightness(colour(name)), brightness(colour(on.get(name)))].sort((one, other) => other - one);
      assert.ok((a + 0.05) / (b + 0.05) >= 4.5, `${scheme}: ${on.get(name)} on ${name}: ${((a + 0.05) / (b + 0.05)).toFixed(2)}`);
    }
  }
});

test("Page: kinds differ in greyscale, and to every kind of eye", async () => {
  const css = await readFile(join(root, "www", "style", "tokens.css"), "utf8");
  const [light, dark] = css.split("prefers-color-scheme: dark");
  for (const [scheme, text] of Object.entries({ light, dark })) {
    const colours = NAMES.map((name) => linear(new RegExp(`--${name}: (#[0-9a-f]{6});`).exec(text)[1]));
    for (const [at, colour] of colours.entries()) {
      // Neighbours in the fixed order of the chart by far, any two by enough.
      if (at > 0) assert.ok(Math.abs(lightness(colour) - lightness(colours[at - 1])) >= 18, `${scheme}: ${NAMES[at - 1]} and ${NAMES[at]}`);
      for (const other of colours.slice(0, at)) {
        assert.ok(Math.abs(lightness(colour) - lightness(other)) >= 4, `${scheme}: ${NAMES[at]} and ${NAMES[colours.indexOf(other)]} in grey`);
        for (const [eye, matrix] of Object.entries(EYES)) {
          const [a, b] = [oklab(seen(colour, matrix)), oklab(seen(other, matrix))];
          const distance = Math.hypot(...a.map((value, axis) => value - b[axis]));
          assert.ok(distance >= 0.06, `${scheme}: ${NAMES[at]} and ${NAMES[colours.indexOf(other)]} with ${eye}: ${distance.toFixed(3)}`);
        }
      }
    }
  }
});
