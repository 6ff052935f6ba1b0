// What page-decisions.test.mjs asks of Chromium, in Firefox.
process.env.CONTEXTWEAVER_TEST_BROWSER = "firefox";
await import("./page-decisions.test.mjs");
