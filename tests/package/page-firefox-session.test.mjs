// The page in Firefox: what page-session.test.mjs asks of Chromium. A file for each tab, as one file for all takes longer than a file may.
process.env.CONTEXTWEAVER_TEST_BROWSER = "firefox";
await import("./page-session.test.mjs");
