//! Rules about the code that the compiler does not know.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first thing that is wrong")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use contextweaver_base::ErrorCode;

fn home() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files_below(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "node_modules") {
            found.extend(files_below(&path, extension));
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The code of a file without its tests.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default().to_owned()
}

#[test]
fn javascript_stays_behind_the_boundary() {
    let mut sources = files_below(&home().join("crates"), "rs");
    sources.extend(files_below(&home().join("src/api"), "rs"));
    for path in sources {
        for word in ["JsValue", "js_sys", "wasm_bindgen", "serde_wasm_bindgen"] {
            assert!(!code(&path).contains(word), "{} names {word}", path.display());
        }
    }
}

/// Between crates the compiler forbids the way back; these are rooms of one crate.
#[test]
fn modules_depend_one_way() {
    for (room, others) in [
        ("crates/convert/src/mcp", &["providers", "tools"][..]),
        ("crates/convert/src/providers", &["mcp", "tools"]),
        ("crates/convert/src/tools", &["providers"]),
        ("crates/model/src/json", &["budget", "enums", "envelope", "item"]),
    ] {
        for path in files_below(&home().join(room), "rs") {
            for other in others {
                assert!(!code(&path).contains(&format!("crate::{other}")), "{} uses {other}", path.display());
            }
        }
    }
    for path in files_below(&home().join("crates/context/src/store"), "rs") {
        for used in code(&path).split("crate::").skip(1) {
            assert!(used.starts_with("store"), "{} uses more of the crate than the stores", path.display());
        }
    }
}

/// The files of a crate by their modules: `["rules", "find"]` for `rules/find/mod.rs`.
fn modules(folder: &Path) -> BTreeMap<Vec<String>, String> {
    let module = |path: &Path| {
        let mut names: Vec<String> = path
            .strip_prefix(folder)
            .unwrap()
            .with_extension("")
            .iter()
            .map(|name| name.to_str().unwrap().into())
            .collect();
        names.pop_if(|last| matches!(last.as_str(), "mod" | "lib"));
        names
    };
    let is_test = |path: &PathBuf| path.file_stem().is_some_and(|name| name.to_str().unwrap().ends_with("tests"));
    let sources = files_below(folder, "rs").into_iter().filter(|path| !is_test(path));
    sources.map(|path| (module(&path), code(&path))).collect()
}

/// The paths of a `use`, written out: `a::{b, c::d}` is `a::b` and `a::c::d`.
fn written_out(used: &str) -> Vec<String> {
    let Some((before, rest)) = used.split_once('{') else { return vec![used.split(" as ").next().unwrap().to_owned()] };
    let inner = rest.strip_suffix('}').unwrap_or(rest);
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (at, ch) in inner.char_indices() {
        match ch {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&inner[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inner[start..]);
    let parts = parts.into_iter().map(str::trim).filter(|part| !part.is_empty());
    parts.flat_map(written_out).map(|part| format!("{before}{part}")).collect()
}

/// What a module names of its crate, and whether it hands that on: modules, and the name in the last of them.
fn named_by(module: &[String], text: &str) -> Vec<(bool, Vec<String>)> {
    let mut found = Vec::new();
    for statement in text.split(';').map(str::trim) {
        let Some((head, used)) = statement.rsplit_once("use ") else { continue };
        let head = head.rsplit('\n').next().unwrap_or_default();
        if !head.is_empty() && !head.starts_with("pub") {
            continue;
        }
        let used: String = used.split_whitespace().collect::<Vec<_>>().join(" ");
        for path in written_out(&used) {
            let names: Vec<&str> = path.split("::").map(str::trim).collect();
            let ways = names.iter().take_while(|name| matches!(**name, "crate" | "self" | "super")).count();
            let mut from = if names[0] == "crate" { Vec::new() } else { module.to_vec() };
            for _ in names[..ways].iter().filter(|name| **name == "super") {
                from.pop();
            }
            from.extend(names[ways..].iter().map(|name| (*name).to_owned()));
            found.push((!head.is_empty(), from));
        }
    }
    found
}

/// Files that need each other are one thing in two places. What a module takes from the one around it does not count: they are
/// read together.
#[test]
fn no_files_of_a_crate_need_each_other() {
    for folder in std::fs::read_dir(home().join("crates")).unwrap() {
        let modules = modules(&folder.unwrap().path().join("src"));
        let named: BTreeMap<&Vec<String>, _> =
            modules.iter().map(|(module, text)| (module, named_by(module, text))).collect();
        // The module that has what a path names, through those that hand it on.
        let home_of = |path: &[String]| {
            let mut path = path.to_vec();
            for _ in 0..6 {
                let depth = (0..path.len()).rev().find(|depth| modules.contains_key(&path[..*depth]))?;
                let (module, name) = (path[..depth].to_vec(), path.get(depth)?.clone());
                let handed_on =
                    named[&module].iter().find(|(is_public, from)| *is_public && from.last() == Some(&name));
                match handed_on {
                    Some((_, from)) if *from != path => path.clone_from(from),
                    _ => return Some(module),
                }
            }
            None
        };
        let mut needs: BTreeMap<&Vec<String>, BTreeSet<Vec<String>>> = BTreeMap::new();
        for (module, paths) in &named {
            let homes = paths.iter().filter(|(is_public, _)| !is_public).filter_map(|(_, path)| home_of(path));
            needs.insert(module, homes.filter(|home| !module.starts_with(home)).collect());
        }
        // Who needs nobody that is left, or is needed by none, is in no circle.
        loop {
            let left: BTreeSet<Vec<String>> = needs.keys().map(|module| (*module).clone()).collect();
            let needed: BTreeSet<Vec<String>> = needs.values().flatten().cloned().collect();
            for homes in needs.values_mut() {
                homes.retain(|home| left.contains(home));
            }
            needs.retain(|module, homes| !homes.is_empty() && needed.contains(*module));
            if needs.len() == left.len() {
                break;
            }
        }
        let lines = needs.iter().flat_map(|(module, homes)| {
            homes.iter().map(|home| format!("{} needs {}", module.join("::"), home.join("::")))
        });
        assert!(needs.is_empty(), "files that need each other:\n{}", lines.collect::<Vec<_>>().join("\n"));
    }
}

#[test]
fn every_error_code_is_documented_and_produced() {
    let facade = std::fs::read_to_string(home().join("pkg-template/src/boundary/errors.ts")).unwrap();
    let mut tests = String::new();
    for folder in ["tests", "src", "crates"] {
        for extension in ["rs", "mjs"] {
            for path in files_below(&home().join(folder), extension) {
                tests.push_str(&std::fs::read_to_string(path).unwrap());
            }
        }
    }
    for code in ErrorCode::ALL {
        let name = code.as_str();
        assert!(facade.contains(&format!("\"{name}\"")), "{name} is not documented in errors.ts");
        let asserted = tests.contains(&format!("\"{name}\"")) || tests.contains(&format!("ErrorCode::{code:?})"));
        // Two codes are only for defects of our own, which no test can produce.
        assert!(asserted || matches!(name, "INTERNAL" | "POISONED"), "no test expects {name}");
    }
}

#[test]
fn the_repository_names_no_machine() {
    for folder in ["src", "crates", "tests", "xtask", "pkg-template", "examples", "benches", ".ci"] {
        for extension in ["rs", "ts", "mjs", "js", "json", "toml", "md", "sh", "html"] {
            let folder = home().join(folder);
            if !folder.exists() {
                continue;
            }
            for path in files_below(&folder, extension) {
                let text = std::fs::read_to_string(&path).unwrap();
                for word in [concat!("/ro", "ot/"), concat!("/wo", "rk/")] {
                    assert!(!text.contains(word), "{} names {word}", path.display());
                }
            }
        }
    }
}

/// What reads a clock, in the languages of the tests.
const CLOCKS: [&str; 6] = ["Date.now()", "performance.now()", "hrtime", "Instant::now()", ".elapsed()", ".duration_ms"];

/// The names in a piece of code.
fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|letter: char| !letter.is_alphanumeric() && letter != '_').filter(|word| !word.is_empty())
}

/// The name that a line gives to what is read there: `began = …`, `seen.longest = …`, `waits.push(…`, `ms: …`.
fn named(line: &str, place: usize) -> Option<&str> {
    let before = &line[..place];
    let end = [" = ", ".push(", ": "].iter().filter_map(|sign| before.rfind(sign)).max()?;
    let name = words(&before[..end]).last()?;
    before[..end].ends_with(name).then_some(name)
}

/// The names of a file that hold what a clock said, or what was reckoned from it.
fn times(text: &str) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    for line in text.lines() {
        found.extend(CLOCKS.iter().filter_map(|clock| named(line, line.find(clock)?)));
    }
    loop {
        let before = found.len();
        for line in text.lines().filter(|line| ["const ", "let "].iter().any(|word| line.trim().starts_with(word))) {
            let Some((name, value)) = line.split_once(" = ") else { continue };
            if words(value).any(|word| found.contains(word)) {
                found.extend(words(name).last());
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// The assertions of a file that compare what a clock said.
fn on_a_clock(text: &str) -> Vec<&str> {
    let times = times(text);
    let statements = text.match_indices("assert").filter_map(|(at, _)| text[at..].split(";\n").next());
    statements
        .filter(|statement| {
            [" < ", " > ", " <= ", " >= "].iter().any(|sign| statement.contains(sign))
                && (CLOCKS.iter().any(|clock| statement.contains(clock))
                    || words(statement).any(|word| times.contains(word)))
        })
        .collect()
}

/// A busy machine is slow, and nothing is wrong: order, counts and a generous limit of the whole test say the same.
#[test]
fn no_test_asserts_on_a_clock() {
    for (code, is_found) in [
        ("const began = performance.now();\nassert.ok(performance.now() - began < 5);\n", true),
        ("const began = Date.now();\nconst took = end - began;\nassert.ok(took < 5, `${took} ms`);\n", true),
        (
            "seen.longest = Math.max(seen.longest, performance.now() - asked);\nassert.ok(\n  seen.longest < 5,\n);\n",
            true,
        ),
        ("let start = Instant::now();\nassert!(start.elapsed() < LIMIT);\n", true),
        ("assert.ok(told.duration_ms < 5);\n", true),
        ("print({ ms: Date.now() - began });\nassert.ok(JSON.parse(out).ms < 5);\n", true),
        ("const began = Date.now();\nt.diagnostic(`${Date.now() - began} ms`);\nassert.ok(calls < 5);\n", false),
        ("const at = Date.now();\nassert.equal(read(at).at, at);\n", false),
    ] {
        assert_eq!(!on_a_clock(code).is_empty(), is_found, "{code}");
    }
    let mut files = files_below(&home().join("tests"), "mjs");
    for folder in ["tests", "crates", "src"] {
        files.extend(files_below(&home().join(folder), "rs"));
    }
    for path in files.iter().filter(|path| !path.ends_with("boundary/architecture.rs")) {
        let text = std::fs::read_to_string(path).unwrap();
        assert_eq!(on_a_clock(&text), [""; 0], "{} asserts on a clock", path.display());
    }
}
