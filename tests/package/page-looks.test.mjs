// What the page looks like: on a desk and on a phone, by day and by night, and to axe.
import test from "node:test";
import { DESKTOP, PHONE, accessible, fits, picture, prepare, shows } from "./page.mjs";

const WINDOWS = { desktop: DESKTOP, phone: PHONE };

/** A picture from the top, without the focus that clicks leave behind. */
async function shot(tab, name, options) {
  await tab.evaluate(() => {
    document.activeElement.blur();
    scrollTo(0, 0);
  });
  await picture(tab, name, options);
}

for (const [name, viewport] of Object.entries(WINDOWS)) {
  for (const colorScheme of ["light", "dark"]) {
    test(`Page: looks, ${name}, ${colorScheme}`, async (t) => {
      const { open } = (await prepare(t)) ?? {};
      if (!open) return;
      const options = { viewport, colorScheme, reducedMotion: "reduce" };
      // Axe takes its time, and says the same of either size and either scheme but for the colours, which `fits` looks at.
      const examine = (name === "desktop") === (colorScheme === "light") ? accessible : fits;

      await t.test("context", async (t) => {
        const tab = await open(t, { ...options, fragment: "#phase=answer&item=16" });
        await shows(tab, "#item .item-title", /i017/);
        await tab.click("#why");
        await shows(tab, "#why-answer", /Found by/);
        await examine(tab);
        await shot(tab, `context-${name}-${colorScheme}`, { fullPage: true });
        for (const [view, found] of Object.entries({ prompt: /POLICY/, changes: /Nothing to compare/, artifacts: /artifact:i/ })) {
          await tab.click(`#view-tab-${view}`);
          await shows(tab, `#view-panel-${view}`, found);
          await fits(tab);
        }
      });

      await t.test("tools", async (t) => {
        const tab = await open(t, { ...options, fragment: "#tab=tools", first: ["#tools-status", /232 tools/] });
        await tab.locator(".ranking .link").first().click();
        await shows(tab, "#tool", /mcp:/);
        await examine(tab);
        await shot(tab, `tools-${name}-${colorScheme}`);
        for (const [view, found] of Object.entries({ tree: /filesystem/, lint: /findings/, drift: /Nothing to compare/ })) {
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
