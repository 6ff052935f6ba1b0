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
