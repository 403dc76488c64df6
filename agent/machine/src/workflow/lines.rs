//! The difference of two texts, line by line.

/// The most lines around a change that are shown.
const AROUND: usize = 2;
/// The most lines of a text that are compared exactly; longer ones are shown as replaced.
const LINES_MAX: usize = 4_000;

/// The lines of two texts with `-` for those that are gone, `+` for new ones, and ` ` for some around them.
pub fn line_difference<'a>(was: &'a str, now: &'a str) -> Vec<(char, &'a str)> {
    let (was, now): (Vec<&str>, Vec<&str>) = (was.lines().collect(), now.lines().collect());
    let all = merged(&was, &now);
    let changed: Vec<usize> =
        (0..all.len()).filter(|at| all.get(*at).is_some_and(|(sign, _)| *sign != ' ')).collect();
    let is_near = |at: usize| changed.iter().any(|change| change.abs_diff(at) <= AROUND);
    all.into_iter().enumerate().filter(|(at, _)| is_near(*at)).map(|(_, line)| line).collect()
}

/// All lines of both texts, by their longest common subsequence.
fn merged<'a>(was: &[&'a str], now: &[&'a str]) -> Vec<(char, &'a str)> {
    let replaced = || {
        let gone = was.iter().map(|line| ('-', *line));
        gone.chain(now.iter().map(|line| ('+', *line))).collect()
    };
    if was.len() > LINES_MAX || now.len() > LINES_MAX {
        return replaced();
    }
    let lengths = lengths(was, now);
    let length =
        |one: usize, other: usize| lengths.get(one).and_then(|row| row.get(other)).copied().unwrap_or(0);
    let (mut one, mut other) = (0, 0);
    let mut all = Vec::new();
    while let (Some(old), Some(new)) = (was.get(one), now.get(other)) {
        if old == new {
            all.push((' ', *old));
            one += 1;
            other += 1;
        } else if length(one + 1, other) >= length(one, other + 1) {
            all.push(('-', *old));
            one += 1;
        } else {
            all.push(('+', *new));
            other += 1;
        }
    }
    all.extend(was.iter().skip(one).map(|line| ('-', *line)));
    all.extend(now.iter().skip(other).map(|line| ('+', *line)));
    all
}

/// Computes the length of the longest common subsequence of the rests of both lists, from each pair of lines
/// on.
fn lengths(was: &[&str], now: &[&str]) -> Vec<Vec<u32>> {
    let mut rows: Vec<Vec<u32>> = vec![vec![0; now.len() + 1]];
    for old in was.iter().rev() {
        let below = rows.last().cloned().unwrap_or_default();
        let mut row = vec![0; now.len() + 1];
        for (at, new) in now.iter().enumerate().rev() {
            let at_of = |row: &[u32], at: usize| row.get(at).copied().unwrap_or(0);
            let length = if old == new {
                at_of(&below, at + 1) + 1
            } else {
                at_of(&below, at).max(at_of(&row, at + 1))
            };
            if let Some(cell) = row.get_mut(at) {
                *cell = length;
            }
        }
        rows.push(row);
    }
    rows.reverse();
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_shown_with_what_is_around_them() {
        let was = "1\n2\n3\n4\n5\n6\n7\n8\n";
        let now = "1\n2\n3\n4\nfive\n6\n7\n8\nnew\n";
        let shown: Vec<String> =
            line_difference(was, now).iter().map(|(sign, line)| format!("{sign}{line}")).collect();
        assert_eq!(shown, [" 3", " 4", "-5", "+five", " 6", " 7", " 8", "+new"]);
        assert!(line_difference(was, was).is_empty());
        assert_eq!(line_difference("", "a"), [('+', "a")]);
    }
}
