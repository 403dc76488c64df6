//! Requests and the workflows that fit them.

use super::{
    super::file::{Parameter, ParameterKind},
    *,
};

fn offer(name: &str, request: &str, parameters: &[&str]) -> WorkflowOffer {
    let parameter = |name: &&str| ((*name).to_owned(), Parameter::default());
    WorkflowOffer {
        name: name.to_owned(),
        about: String::new(),
        request: request.to_owned(),
        parameters: parameters.iter().map(parameter).collect(),
    }
}

fn chart() -> WorkflowOffer {
    offer("chart", "Make a chart of {quarter} in the spreadsheet", &["quarter"])
}

fn values(found: &WorkflowMatch) -> Vec<(&str, &str)> {
    found.values.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

#[test]
fn a_request_with_the_same_words_gives_the_values() {
    let check = |request: &str, quarter: &str| {
        let found = fitting(&[chart()], request).unwrap_or_else(|| panic!("{request}"));
        assert!(found.is_sure(), "{request}: {found:?}");
        assert_eq!(values(&found), [("quarter", quarter)], "{request}");
    };
    check("Make a chart of Q3 in the spreadsheet", "Q3");
    check("  make a  chart of\nQ3 in the spreadsheet. ", "Q3");
    check("MAKE A CHART OF “the last quarter” IN THE SPREADSHEET!", "the last quarter");
    check("Make a chart of Straße Ünïted in the spreadsheet", "Straße Ünïted");
    // One at the end is not shortened at the first place where a sentence could end.
    let last = offer("send", "Send the report to {recipient}", &["recipient"]);
    let found = fitting(&[last], "Send the report to ann@example.com.").unwrap();
    assert_eq!((values(&found), found.is_sure()), (vec![("recipient", "ann@example.com")], true));
}

#[test]
fn another_request_gives_no_values() {
    for request in [
        "Make a chart of Q3 in the spreadsheet and mail it to Bob",
        "Do not make a chart of Q3 in the spreadsheet",
        "Make a chart of in the spreadsheet",
        "Make a chart",
        "",
    ] {
        let found = fitting(&[chart()], request);
        assert!(found.as_ref().is_none_or(|found| !found.is_exact), "{request}: {found:?}");
    }
}

#[test]
fn what_can_be_read_in_two_ways_is_not_sure() {
    let send = offer("send", "Send {what} to {whom}", &["what", "whom"]);
    let sure = fitting(std::slice::from_ref(&send), "Send greetings to Bob").unwrap();
    assert_eq!(values(&sure), [("what", "greetings"), ("whom", "Bob")]);
    let found = fitting(&[send], "Send greetings to Bob to Alice");
    assert!(found.as_ref().is_none_or(|found| !found.is_sure()), "{found:?}");
    // Two workflows with the same words.
    let found = fitting(
        &[chart(), WorkflowOffer { name: "other".to_owned(), ..chart() }],
        "Make a chart of Q3 in the spreadsheet",
    );
    assert!(!found.unwrap().is_sure());
    // The one that says more is meant.
    let long = offer("sales", "Make a chart of {quarter} sales in the spreadsheet", &["quarter"]);
    let found = fitting(&[chart(), long], "Make a chart of Q3 sales in the spreadsheet").unwrap();
    assert_eq!(
        (found.name.as_str(), values(&found), found.is_sure()),
        ("sales", vec![("quarter", "Q3")], true)
    );
}

#[test]
fn a_value_that_stands_twice_is_one_value() {
    let twice = offer("copy", "Copy {file} and check {file} again", &["file"]);
    let found = fitting(std::slice::from_ref(&twice), "copy a.ods and check a.ods again").unwrap();
    assert_eq!((values(&found), found.is_sure()), (vec![("file", "a.ods")], true));
    let found = fitting(&[twice], "copy a.ods and check b.ods again");
    assert!(found.is_none_or(|found| !found.is_exact));
}

#[test]
fn a_template_that_would_fit_anything_fits_nothing() {
    for request in ["{what}", "Do {what}", "{what} now", "Take {file.name} out of the folder", "Open {"] {
        assert_eq!(
            fitting(&[offer("any", request, &["what", "file"])], "Do the dishes now"),
            None,
            "{request}"
        );
    }
}

#[test]
fn missing_and_wrong_values_are_told() {
    let mut chart = chart();
    chart.parameters.insert("document".to_owned(), Parameter::default());
    let request = "Make a chart of Q3 in the spreadsheet";
    let found = fitting(std::slice::from_ref(&chart), request).unwrap();
    assert!(found.is_exact && !found.is_sure());
    assert!(
        matches!(&found.problem, Some(ValueProblem::Missing { name, .. }) if name == "document"),
        "{found:?}"
    );
    chart.parameters.insert(
        "document".to_owned(),
        Parameter { default: Some("a.ods".to_owned()), ..Parameter::default() },
    );
    assert!(fitting(std::slice::from_ref(&chart), request).unwrap().is_sure());
    chart
        .parameters
        .insert("quarter".to_owned(), Parameter { kind: ParameterKind::Number, ..Parameter::default() });
    assert!(matches!(fitting(&[chart], request).unwrap().problem, Some(ValueProblem::NoNumber { .. })));
}

#[test]
fn other_words_for_the_same_are_a_mention() {
    let found = fitting(&[chart()], "Please make the Q3 chart in my spreadsheet").unwrap();
    assert_eq!((found.name.as_str(), found.is_exact, found.values.len()), ("chart", false, 0));
    assert_eq!(fitting(&[chart()], "Write a letter to the bank"), None);
    let long = "Make a chart of the sales in the spreadsheet, mail it to Bob, print three copies, and then close all windows again";
    assert_eq!(fitting(&[chart()], long), None, "it wants much more");
}

#[test]
fn long_and_repetitive_requests_are_bounded() {
    let many = offer("many", "{a} and {b} and {c} and {d} or else", &["a", "b", "c", "d"]);
    let request = "x and ".repeat(200);
    assert!(fitting(std::slice::from_ref(&many), &request).is_none_or(|found| !found.is_sure()));
    assert_eq!(fitting(&[many], &"x".repeat(10_000)), None);
}
