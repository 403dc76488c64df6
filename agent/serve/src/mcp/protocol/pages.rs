//! Long lists in pages.

use rmcp::{ErrorData, model::PaginatedRequestParams};

/// The most items of a page.
const ITEMS_MAX: usize = 50;

/// The items of a page, and the cursor of the next one.
///
/// # Errors
/// The cursor is none that was given out.
pub(super) fn page<T>(
    all: Vec<T>,
    request: Option<&PaginatedRequestParams>,
) -> Result<(Vec<T>, Option<String>), ErrorData> {
    let start = match request.and_then(|request| request.cursor.as_deref()) {
        None => 0,
        Some(cursor) => position(cursor).filter(|start| *start < all.len()).ok_or_else(|| {
            let problem = format!(
                "`{}` is not a cursor of this list; leave it out for the first page",
                clipped(cursor)
            );
            ErrorData::invalid_params(problem, None)
        })?,
    };
    let end = start.saturating_add(ITEMS_MAX);
    let next = (end < all.len()).then(|| format!("from-{end}"));
    Ok((all.into_iter().skip(start).take(ITEMS_MAX).collect(), next))
}

fn position(cursor: &str) -> Option<usize> {
    cursor.strip_prefix("from-")?.parse().ok().filter(|start| *start > 0)
}

fn clipped(cursor: &str) -> String {
    const CHARS_MAX: usize = 40;
    cursor.chars().take(CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(cursor: &str) -> PaginatedRequestParams {
        PaginatedRequestParams::default().with_cursor(Some(cursor.to_owned()))
    }

    #[test]
    fn all_pages_together_have_each_item_once() {
        let all: Vec<u32> = (0..120).collect();
        let (mut read, mut next) = page(all.clone(), None).unwrap();
        let mut pages = 1;
        while let Some(cursor) = next {
            let (items, more) = page(all.clone(), Some(&request(&cursor))).unwrap();
            read.extend(items);
            next = more;
            pages += 1;
        }
        assert_eq!((read, pages), (all, 3));
    }

    #[test]
    fn a_foreign_cursor_is_refused() {
        for cursor in ["", "7", "from-", "from-0", "from-120", "from-99999999999999999999", "from--1"] {
            let error = page((0..120).collect::<Vec<u32>>(), Some(&request(cursor))).unwrap_err();
            assert_eq!(error.code.0, -32602, "{cursor}");
        }
        assert_eq!(page(vec![1, 2], None).unwrap(), (vec![1, 2], None));
    }
}
