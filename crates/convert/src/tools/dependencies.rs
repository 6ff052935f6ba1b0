//! Which tools are to be called before others.

use serde_json::Value;

use contextweaver_base::order::SortedMap;
use contextweaver_model::Warning;
use contextweaver_model::json::pointer;
use contextweaver_text::quote::quote;

/// Names of one cycle that a message shows.
const SHOWN: usize = 8;

/// Indices of the tools by name, among those that could be used.
pub(super) type ToolIndices = SortedMap<String, usize>;

/// Warns of tools that depend on unknown ones and, round a circle, on themselves.
pub(super) fn check(definitions: &[Value], indices: &[usize], names: &ToolIndices, warnings: &mut Vec<Warning>) {
    let edges: Vec<Vec<usize>> = indices
        .iter()
        .map(|index| {
            let targets = definitions[*index].get("dependsOn").and_then(Value::as_array).into_iter().flatten();
            let mut known = Vec::new();
            for (at, name) in targets.enumerate() {
                let name = name.as_str().unwrap_or_default();
                if let Some(target) = names.get(name) {
                    known.push(*target);
                } else {
                    let path = format!("/{index}/dependsOn/{at}");
                    let message = format!("there is no tool {}", quote(name));
                    warnings.push(Warning::new("unknown_dependency", message, path));
                }
            }
            known
        })
        .collect();
    for cycle in cycles(&edges) {
        let name = |place: usize| definitions[indices[place]]["name"].as_str().map(quote).unwrap_or_default();
        let mut shown: Vec<String> = cycle.iter().take(SHOWN).map(|place| name(*place)).collect();
        if cycle.len() > SHOWN {
            shown.push(format!("{} more", cycle.len() - SHOWN));
        }
        let message = format!("{} depend on each other in a circle", shown.join(", "));
        let path = pointer(&format!("/{}", indices[cycle[0]]), "dependsOn");
        warnings.push(Warning::new("dependency_cycle", message, path));
    }
}

/// Returns circles, at most one for each tool that closes one; linear in the edges but for the length of the circles.
fn cycles(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    // 0 is new, 1 on the way, 2 done.
    let mut state = vec![0_u8; edges.len()];
    for start in 0..edges.len() {
        if state[start] != 0 {
            continue;
        }
        state[start] = 1;
        let mut way = vec![(start, 0)];
        let mut has_closed = vec![];
        while let Some((place, next)) = way.last_mut() {
            let place = *place;
            let Some(target) = edges[place].get(*next).copied() else {
                state[place] = 2;
                way.pop();
                continue;
            };
            *next += 1;
            match state[target] {
                0 => {
                    state[target] = 1;
                    way.push((target, 0));
                }
                1 if !has_closed.contains(&target) && found.len() < SHOWN => {
                    has_closed.push(target);
                    let from = way.iter().position(|(on, _)| *on == target).unwrap_or(0);
                    found.push(way[from..].iter().map(|(on, _)| *on).collect());
                }
                _ => {}
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_are_found() {
        for (edges, wanted) in [
            (vec![vec![1], vec![2], vec![0]], vec![vec![0, 1, 2]]),
            (vec![vec![0]], vec![vec![0]]),
            (vec![vec![1, 2], vec![2], vec![]], vec![]),
            (vec![vec![1], vec![0], vec![3], vec![2]], vec![vec![0, 1], vec![2, 3]]),
        ] {
            assert_eq!(cycles(&edges), wanted);
        }
        let long: Vec<Vec<usize>> = (0..100_000).map(|place| vec![(place + 1) % 100_000]).collect();
        assert_eq!(cycles(&long)[0].len(), 100_000);
    }
}
