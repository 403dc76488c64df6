//! The ten tasks: what is asked, what a scripted model does, and what must be in the file then.

use super::{
    documents::{Content, Document},
    reading::Reading,
};

/// A task.
#[derive(Debug, Clone, Copy)]
pub(super) struct Task {
    pub(super) name: &'static str,
    /// Where it is done.
    pub(super) applications: &'static str,
    /// The replies of the first run.
    pub(super) script: &'static str,
    /// What is asked for, with values, `{document}` and `{output}` in braces.
    pub(super) request: &'static str,
    /// How its result is read.
    pub(super) reading: Reading,
    /// The toolkit in which the Parts Desk is drawn for it.
    pub(super) desk: Option<&'static str>,
    /// Whether runs after the first one have the other document and values.
    pub(super) changes: bool,
    pub(super) first: Case,
    pub(super) other: Case,
}

/// A document, values and what must come of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case {
    pub(super) document: Option<Document>,
    /// Values by name, the same names in both cases.
    pub(super) values: &'static [(&'static str, &'static str)],
    /// The name of the new file that the task makes.
    pub(super) output: Option<&'static str>,
    /// The text of the result.
    pub(super) expected: &'static str,
}

const fn case(
    values: &'static [(&'static str, &'static str)],
    output: Option<&'static str>,
    expected: &'static str,
) -> Case {
    Case { document: None, values, output, expected }
}

impl Case {
    const fn of(self, name: &'static str, content: Content) -> Self {
        Self { document: Some(Document { name, content }), ..self }
    }
}

/// The tasks, in the order in which they are done.
pub(super) const TASKS: &[Task] = &[
    Task {
        name: "chart",
        applications: "Writer, Calc",
        script: include_str!("../../../examples/sales/demo.script.toml"),
        request: "Extract the sales table from the Writer document and create a bar chart of it in Calc. Save the spreadsheet as {output}",
        reading: Reading::ChartedCells,
        desk: None,
        changes: true,
        first: case(
            &[("table", "Sales")],
            Some("sales.ods"),
            "Region,Units,Revenue\nNorth-East,70,2800\nNorth,120,4800\nSouth,95,3800\nWest,140,5600",
        )
        .of("sales.odt", Content::Sales),
        other: case(
            &[("table", "Table1")],
            Some("towns.ods"),
            "Town,Sold,Money\nOslo,7,70\nRome,9,90\nBern,4,40\nKyiv,6,60\nLima,8,80",
        )
        .of(
            "towns.odt",
            Content::Letter(
                "<html><body><p>Report</p><table><tr><td>Town</td><td>Sold</td><td>Money</td></tr>\
                 <tr><td>Oslo</td><td>7</td><td>70</td></tr><tr><td>Rome</td><td>9</td><td>90</td></tr>\
                 <tr><td>Bern</td><td>4</td><td>40</td></tr><tr><td>Kyiv</td><td>6</td><td>60</td></tr>\
                 <tr><td>Lima</td><td>8</td><td>80</td></tr></table></body></html>",
            ),
        ),
    },
    Task {
        name: "note",
        applications: "Mousepad",
        script: include_str!("scripts/note.toml"),
        request: "Write the note {text} and save it as {output}",
        reading: Reading::Text,
        desk: None,
        changes: false,
        first: case(&[("text", "Buy milk and bread")], Some("note.txt"), "Buy milk and bread"),
        other: case(&[("text", "Call the plumber")], Some("calls.txt"), "Call the plumber"),
    },
    Task {
        name: "replace",
        applications: "Mousepad",
        script: include_str!("scripts/replace.toml"),
        request: "Replace {old} by {new} everywhere in {document} and save it",
        reading: Reading::Text,
        desk: None,
        changes: true,
        first: case(&[("old", "blue"), ("new", "green")], None, "The green car.\nA green sky, green eyes.")
            .of("poem.txt", Content::Text("The blue car.\nA blue sky, blue eyes.\n")),
        other: case(&[("old", "Monday"), ("new", "Friday")], None, "We meet on Friday.\nFriday is fine.")
            .of("plan.txt", Content::Text("We meet on Monday.\nMonday is fine.\n")),
    },
    Task {
        name: "prices",
        applications: "Calc",
        script: include_str!("scripts/prices.toml"),
        request: "Enter the article {article} with {count} pieces at {price} into {document} and save it",
        reading: Reading::Cells,
        desk: None,
        changes: true,
        first: case(
            &[("article", "Beans"), ("count", "25"), ("price", "2.75")],
            None,
            "Article,Count,Price\nTea,12,3.5\nRice,40,1.25\nSalt,7,0.8\nBeans,25,2.75",
        )
        .of("stock.ods", Content::Sheet("Article,Count,Price\nTea,12,3.5\nRice,40,1.25\nSalt,7,0.8\n")),
        other: case(
            &[("article", "Nails"), ("count", "300"), ("price", "0.05")],
            None,
            "Article,Count,Price\nHammer,4,12\nSaw,9,17.5\nGlue,31,2.2\nNails,300,0.05",
        )
        .of("tools.ods", Content::Sheet("Article,Count,Price\nHammer,4,12\nSaw,9,17.5\nGlue,31,2.2\n")),
    },
    Task {
        name: "sort",
        applications: "Calc",
        script: include_str!("scripts/sort.toml"),
        request: "Sort the list by {column} and export it as {output}",
        reading: Reading::Cells,
        desk: None,
        changes: false,
        first: case(
            &[("column", "Count")],
            Some("sorted.ods"),
            "Article,Count,Price\nRice,40,1.25\nTea,12,3.5\nSalt,7,0.8",
        )
        .of("list.ods", Content::Sheet("Article,Count,Price\nTea,12,3.5\nRice,40,1.25\nSalt,7,0.8\n")),
        other: case(
            &[("column", "Price")],
            Some("ordered.ods"),
            "Article,Count,Price\nSaw,9,17.5\nHammer,4,12\nGlue,31,2.2",
        )
        .of("shed.ods", Content::Sheet("Article,Count,Price\nHammer,4,12\nSaw,9,17.5\nGlue,31,2.2\n")),
    },
    Task {
        name: "letter",
        applications: "Writer",
        script: include_str!("scripts/letter.toml"),
        request: "Replace {old} by {new} in the letter and save it as {output}",
        reading: Reading::Paragraphs,
        desk: None,
        changes: true,
        first: case(
            &[("old", "Ms Miller"), ("new", "Mr Smith")],
            Some("smith.odt"),
            "Dear Mr Smith,\nthe order of Mr Smith is ready.",
        )
        .of(
            "letter.odt",
            Content::Letter(
                "<html><body><p>Dear Ms Miller,</p><p>the order of Ms Miller is ready.</p></body></html>",
            ),
        ),
        other: case(
            &[("old", "room 12"), ("new", "the hall")],
            Some("hall.odt"),
            "We meet in the hall.\nBring a chair to the hall.",
        )
        .of(
            "invitation.odt",
            Content::Letter(
                "<html><body><p>We meet in room 12.</p><p>Bring a chair to room 12.</p></body></html>",
            ),
        ),
    },
    Task {
        name: "slides",
        applications: "Impress",
        script: include_str!("scripts/slides.toml"),
        request: "Give the first slide of {document} the title {title} and save it",
        reading: Reading::Slides,
        desk: None,
        changes: false,
        first: case(&[("title", "Results of May")], None, "Results of May\nSales grew.")
            .of("talk.odp", Content::Slides("Untitled")),
        other: case(&[("title", "Plans for June")], None, "Plans for June\nSales grew.")
            .of("plans.odp", Content::Slides("Draft")),
    },
    Task {
        name: "order",
        applications: "Chromium",
        script: include_str!("scripts/order.toml"),
        request: "Order {pieces} pieces of size {size} for {customer} with the form",
        reading: Reading::Orders,
        desk: None,
        changes: true,
        first: case(
            &[("customer", "Ann Lee"), ("pieces", "30"), ("size", "Large")],
            None,
            "customer=Ann Lee&express=on&pieces=30&size=Large",
        )
        .of("order.html", Content::Form),
        other: case(
            &[("customer", "Bo Chen"), ("pieces", "12"), ("size", "Medium")],
            None,
            "customer=Bo Chen&express=on&pieces=12&size=Medium",
        )
        .of("form.html", Content::Form),
    },
    Task {
        name: "parts",
        applications: "a form in GTK 4",
        script: include_str!("scripts/parts.toml"),
        request: "Export the parts with the number {part} that warehouse {warehouse} has",
        reading: Reading::Export,
        desk: Some("gtk4"),
        changes: false,
        first: case(
            &[("part", "A-100"), ("warehouse", "North")],
            None,
            "part=A-100 stock=true warehouse=north",
        ),
        other: case(&[("part", "B-7"), ("warehouse", "South")], None, "part=B-7 stock=true warehouse=south"),
    },
    Task {
        name: "spares",
        applications: "a form in Qt",
        script: include_str!("scripts/parts.toml"),
        request: "Export the parts with the number {part} that warehouse {warehouse} has",
        reading: Reading::Export,
        desk: Some("qt"),
        changes: false,
        first: case(
            &[("part", "C-31"), ("warehouse", "South")],
            None,
            "part=C-31 stock=true warehouse=south",
        ),
        other: case(&[("part", "D-2"), ("warehouse", "North")], None, "part=D-2 stock=true warehouse=north"),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_tasks_change_and_their_cases_fit() {
        assert_eq!(TASKS.len(), 10);
        assert_eq!(TASKS.iter().filter(|task| task.changes).count(), 5);
        for task in TASKS {
            let names = |case: &Case| case.values.iter().map(|(name, _)| *name).collect::<Vec<_>>();
            assert_eq!(names(&task.first), names(&task.other), "{}", task.name);
            assert_eq!(task.first.output.is_some(), task.other.output.is_some(), "{}", task.name);
            assert_ne!(task.first.expected, task.other.expected, "{}", task.name);
        }
    }
}
