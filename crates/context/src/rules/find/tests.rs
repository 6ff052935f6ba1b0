use super::{Statement, find};

const SENTENCES: &str = include_str!("sentences.txt");
/// What of each class is found at least, and of what states nothing at most, in hundredths.
const FOUND: usize = 90;
const MISTAKEN: usize = 10;

fn states(text: &str) -> bool {
    find(text).iter().any(Statement::is_sure)
}

#[test]
fn each_class_of_statements_is_found() {
    let rows: Vec<(&str, &str)> = SENTENCES.lines().filter_map(|line| line.split_once('\t')).collect();
    let mut classes: Vec<&str> = rows.iter().map(|(class, _)| *class).collect();
    classes.dedup();
    contextweaver_base::order::sort_distinct(&mut classes);
    for class in classes {
        let all: Vec<&str> = rows.iter().filter(|(of, _)| *of == class).map(|(_, text)| *text).collect();
        let (found, missed): (Vec<&str>, Vec<&str>) = all.iter().copied().partition(|text| states(text));
        if class == "none" {
            assert!(100 * found.len() <= MISTAKEN * all.len(), "{} of {} are none: {found:#?}", found.len(), all.len());
        } else {
            assert!(
                100 * found.len() >= FOUND * all.len(),
                "{class}, {} of {} missed: {missed:#?}",
                missed.len(),
                all.len()
            );
        }
    }
}

#[test]
fn a_long_turn_is_read_at_both_ends() {
    let log = "2026-03-01T10:00:00Z INFO job done\n".repeat(3_000);
    let said = |text: &str| -> Vec<String> {
        find(text).iter().filter(|one| one.is_sure()).map(|one| text[one.range.clone()].trim().to_owned()).collect()
    };
    assert_eq!(said(&format!("Never deploy on Fridays. Here is today's log.\n{log}")), ["Never deploy on Fridays."]);
    assert_eq!(said(&format!("Here is today's log.\n{log}Always answer in German.")), ["Always answer in German."]);
    // A fence quotes its text wherever the turn is cut.
    assert_eq!(said(&format!("The page:\n```\n{log}Always answer in German.\n```\n")), [""; 0]);
    let prose = "The depot sends what it has in the evening. ".repeat(3_000);
    let both = format!("Never deploy on Fridays. {prose}Always answer in German.");
    assert_eq!(said(&both), ["Never deploy on Fridays.", "Always answer in German."]);
}
