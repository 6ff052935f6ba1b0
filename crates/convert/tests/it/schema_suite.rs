//! The official test suite of JSON Schema 2020-12 against the validation of arguments.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use contextweaver_convert::tools::{check_well_formed, validate_args};
use contextweaver_test_support::{Skip, skip};
use serde_json::Value;

/// Why cases differ: file, beginning of the group's description (empty for all of the file), reason.
const DEVIATIONS: &[(&str, &str, &str)] = &[
    ("anchor", "", ANCHORS),
    ("defs", "validate definition against metaschema", REMOTE),
    ("dynamicRef", "", "`$dynamicRef` is reported and not enforced, and in other documents refused"),
    ("not", "collect annotations inside a 'not'", UNEVALUATED),
    ("pattern", "pattern with Unicode property escape", "`\\p` is no supported sign; reported and not enforced"),
    ("ref", "$id must be resolved against nearest parent", REMOTE),
    ("ref", "Recursive references between schemas", REMOTE),
    ("ref", "URN", REMOTE),
    ("ref", "order of evaluation: $id", REMOTE),
    ("ref", "ref creates new scope when adjacent to keywords", UNEVALUATED),
    ("ref", "ref to ", REMOTE),
    ("ref", "ref with absolute-path-reference", REMOTE),
    ("ref", "refs with relative uris and defs", REMOTE),
    ("ref", "relative refs with absolute uris and defs", REMOTE),
    ("ref", "remote ref, containing refs itself", REMOTE),
    ("ref", "simple URN base URI with $ref via the URN", REMOTE),
    ("refRemote", "", REMOTE),
    ("unevaluatedItems", "", UNEVALUATED),
    ("unevaluatedProperties", "", UNEVALUATED),
    ("vocabulary", "", "vocabularies are not read: every keyword that is known is enforced"),
];

const ANCHORS: &str =
    "`$anchor` names no target; the reference is reported and not enforced, and with an address refused";
const REMOTE: &str = "references by address, also to a local `$id`, are `UNSUPPORTED`";
const UNEVALUATED: &str = "`unevaluatedProperties` and `unevaluatedItems` are reported and not enforced";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors-public/json-schema/draft2020-12")
}

/// Runs a file; returns the groups in which a case differs with how many, and the number of cases.
fn differing(file: &Path) -> (BTreeMap<String, usize>, usize) {
    let groups: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let (mut found, mut cases) = (BTreeMap::new(), 0);
    for group in groups.as_array().unwrap() {
        let name = group["description"].as_str().unwrap();
        for test in group["tests"].as_array().unwrap() {
            cases += 1;
            let result = validate_args(&group["schema"], "", &test["data"], false);
            if result.map(|checked| checked.valid).ok() != test["valid"].as_bool() {
                *found.entry(name.to_owned()).or_insert(0) += 1;
            }
        }
    }
    (found, cases)
}

#[test]
fn the_official_suite_agrees_but_for_what_is_listed() {
    if !folder().is_dir() {
        skip(Skip::Test, "the JSON Schema test suite is not here (../shared/vectors-public/json-schema)");
        return;
    }
    let (mut cases, mut different, mut unknown) = (0, 0, Vec::new());
    let mut used = vec![false; DEVIATIONS.len()];
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files.into_iter().filter(|file| file.extension().is_some_and(|extension| extension == "json")) {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let (found, count) = differing(&file);
        cases += count;
        for (group, count) in found {
            different += count;
            let listed = DEVIATIONS.iter().position(|(file, start, _)| *file == name && group.starts_with(start));
            match listed {
                Some(at) => used[at] = true,
                None => unknown.push(format!("{name}: {group} ({count})")),
            }
        }
    }
    println!("{} of {cases} cases agree", cases - different);
    assert!(unknown.is_empty(), "cases differ that are not listed:\n{}", unknown.join("\n"));
    let stale: Vec<_> = DEVIATIONS.iter().zip(used).filter(|(_, used)| !used).map(|(deviation, _)| deviation).collect();
    assert!(stale.is_empty(), "listed cases agree by now: {stale:?}");
}

/// The address of what all schemas of the revision are instances of.
const METASCHEMA: &str = "https://json-schema.org/draft/2020-12/schema";

#[test]
fn schemas_of_the_suite_are_well_formed_and_its_malformed_ones_are_not() {
    if !folder().is_dir() {
        skip(Skip::Test, "the JSON Schema test suite is not here (../shared/vectors-public/json-schema)");
        return;
    }
    let (mut schemas, mut instances) = (0, 0);
    for entry in std::fs::read_dir(folder()).unwrap() {
        let file = entry.unwrap().path();
        if file.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let groups: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        for group in groups.as_array().unwrap() {
            schemas += 1;
            let checked = check_well_formed(&group["schema"], "");
            assert!(checked.is_ok(), "{} {}: {checked:?}", file.display(), group["description"]);
            if group["schema"]["$ref"] == METASCHEMA {
                for test in group["tests"].as_array().unwrap() {
                    instances += 1;
                    let checked = check_well_formed(&test["data"], "");
                    assert_eq!(Some(checked.is_ok()), test["valid"].as_bool(), "{} {test}", group["description"]);
                }
            }
        }
    }
    println!("{schemas} schemas, {instances} instances of the metaschema");
    assert!(schemas > 300 && instances > 0);
}
