//! The question to ask when several tools fit.

use contextweaver_base::order::sort_distinct;
use contextweaver_text::python::quoted;

/// Tools, or namespaces, a question names.
const NAMED: usize = 3;

/// Returns a question that tells the best tools apart: by namespace where they are of several, else by name. `None`
/// with fewer than two tools. Each tool is its name and its namespace, best first; three are named.
pub fn clarifying_question(query: &str, tools: &[(&str, &str)]) -> Option<String> {
    if tools.len() < 2 {
        return None;
    }
    let mut namespaces: Vec<&str> = tools.iter().map(|(_, namespace)| *namespace).filter(|ns| !ns.is_empty()).collect();
    sort_distinct(&mut namespaces);
    let query = quoted(query);
    if namespaces.len() >= 2 {
        let named = listed(namespaces.into_iter().take(NAMED));
        return Some(format!("Did you mean {named}? Multiple namespaces matched {query}."));
    }
    let named = listed(tools.iter().take(NAMED).map(|(name, _)| *name));
    Some(format!("Multiple tools could handle {query}: {named}. Which did you mean?"))
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(quoted).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_needs_two_tools() {
        assert_eq!(clarifying_question("q", &[("a", "n")]), None);
        let two = clarifying_question("q", &[("a", ""), ("b", "n")]);
        assert_eq!(two.as_deref(), Some("Multiple tools could handle 'q': 'a', 'b'. Which did you mean?"));
        let three = clarifying_question("q", &[("a", "z"), ("b", "n"), ("c", "z"), ("d", "y")]);
        assert_eq!(three.as_deref(), Some("Did you mean 'n', 'y', 'z'? Multiple namespaces matched 'q'."));
    }
}
