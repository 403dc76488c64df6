//! Values and their other forms are hidden in texts.

use proptest::prelude::*;
use serde_json::json;

use super::*;

const VALUE: &str = "Kanarie \"&<ü/9'x";

fn veil(value: &str) -> Veil {
    let veil = Veil::default();
    veil.add("shop", &SecretValue::new(value).unwrap());
    veil
}

#[test]
fn a_value_is_hidden_in_every_form() {
    let veil = veil(VALUE);
    #[track_caller]
    fn check(veil: &Veil, text: &str) {
        let around = format!("before {text} after");
        assert_eq!(veil.hide(&around), "before [secret:shop in another form] after", "{text}");
        assert!(veil.is_in(&around));
    }
    let json = serde_json::to_string(VALUE).unwrap();
    assert_eq!(veil.hide(VALUE), "secret:shop");
    assert_eq!(veil.hide(&VALUE.replace(' ', "\u{a0}")), "secret:shop");
    check(&veil, &VALUE.to_uppercase());
    check(&veil, "kanarie\n\"&<ü/9'x");
    check(&veil, "Kanarie\u{a0}\"&<\u{ad}ü/9'\u{200b}x");
    check(&veil, json.trim_matches('"'));
    let twice = serde_json::to_string(&json).unwrap();
    check(&veil, &twice[3..twice.len() - 3]);
    check(&veil, "Kanarie \\\"&<\\u00fc/9'x");
    check(&veil, "Kanarie &quot;&amp;&lt;ü/9&#39;x");
    check(&veil, "Kanarie &#34;&amp;&lt;ü/9&#x27;x");
    check(&veil, "Kanarie%20%22%26%3C%C3%BC%2F9%27x");
    check(&veil, "Kanarie%20%22%26%3c%c3%bc%2f9'x");
    check(&veil, "Kanarie+%22%26%3C%C3%BC%2F9%27x");
    check(&veil, "Kanarie%20%22&%3C%C3%BC/9'x");
    check(&veil, "Kanarie%20%22%26%3C%C3%BC/9%27x");
    check(&veil, "Kanarie+%22%26%3C%C3%BC/9%27x");
    check(&veil, "Kanarie%20%22&%3C%C3%BC%2F9%27x");
}

#[test]
fn hiding_twice_changes_nothing_and_other_texts_stay() {
    let veil = veil("shop");
    assert_eq!(veil.hide("my shop, SHOP"), "my secret:shop, [secret:shop in another form]");
    assert_eq!(veil.hide("my secret:shop"), "my secret:shop");
    assert_eq!(veil.hide("sho p and sho"), "[secret:shop in another form] and sho");
    assert_eq!(Veil::default().hide("shop"), "shop");
    let value = veil.hide_in(json!({"shop": ["a shop", 1, {"x": "sh"}]})).unwrap();
    assert_eq!(value, json!({"secret:shop": ["a secret:shop", 1, {"x": "sh"}]}));
}

#[test]
fn numbers_are_hidden_as_well() {
    let value = veil("4711").hide_in(json!({"value": 4711, "other": 47})).unwrap();
    assert_eq!(value, json!({"value": "secret:shop", "other": 47}));
}

#[test]
fn a_value_that_is_a_word_of_a_format_breaks_no_data() {
    #[derive(Debug, PartialEq, Serialize, serde::Deserialize)]
    enum Word {
        Success,
    }
    let data = (Word::Success, "it said: success".to_owned(), 17);
    let hidden = veil("success").hide_in(data).unwrap();
    assert_eq!(hidden, (Word::Success, "it said: secret:shop".to_owned(), 17));
}

#[test]
fn a_field_that_was_given_a_secret_shows_no_part_of_it() {
    let veil = veil("canary-7f3a");
    assert_eq!(veil.hide_in_field(7, "canary-7").text, "canary-7");
    veil.typed_into(7, "shop");
    let shown = |text: &str| veil.hide_in_field(7, text).text;
    assert_eq!(shown("canary-7f3a"), "secret:shop");
    assert_eq!(shown("x canary-7f3a"), "x secret:shop");
    // It is being typed.
    assert_eq!((shown("c"), shown("canary-7")), ("secret:".to_owned(), "secret:".to_owned()));
    assert_eq!(shown("old canary-7"), "old secret:");
    assert_eq!(shown("anary-7f3a"), "[part of secret:shop]");
    assert_eq!(shown("CANARY-7F3A"), "[secret:shop in another form]");
    assert_eq!(shown("canary-7f3acanar"), "secret:shopsecret:");
    assert_eq!(shown("canary-7-7f3a"), "[part of secret:shop]");
    assert_eq!(shown("hello"), "hello");
    assert_eq!(shown(""), "");
    // Eleven letters stand for eleven; a lost or an added one is still one.
    assert_eq!(shown(&"•".repeat(11)), "•".repeat(11));
    assert_eq!(shown(&"•".repeat(10)), "•".repeat(10));
}

#[test]
fn dots_do_not_tell_the_length() {
    let veil = veil("a-much-longer-canary-7f3a");
    veil.typed_into(7, "shop");
    let shown = |count: usize| veil.hide_in_field(7, &"•".repeat(count)).text.chars().count();
    let mark = "secret:shop".len();
    assert_eq!((shown(25), shown(24), shown(30), shown(1)), (mark, mark - 1, mark + 5, 1));
}

#[test]
fn places_are_those_of_the_other_text() {
    let hidden = veil("canary-7f3a-long").hide_with_places("ab canary-7f3a-long cd");
    assert_eq!(hidden.text, "ab secret:shop cd");
    for (before, now) in [(0, 0), (3, 3), (19, 14), (20, 15), (22, 17)] {
        assert_eq!(hidden.place_now(before), now, "{before}");
        assert_eq!(hidden.place_before(now), before, "{now}");
    }
    assert_eq!(hidden.place_now(5), 14);
    assert_eq!(hidden.place_before(5), 19);
}

proptest! {
    #[test]
    fn no_value_is_left(value in "[ -~äöü]{4,40}", head in ".{0,20}", tail in ".{0,20}") {
        let Ok(secret) = SecretValue::new(value.as_str()) else { return Ok(()) };
        let veil = Veil::default();
        veil.add("n", &secret);
        let text = format!("{head}{value}{tail}");
        let hidden = veil.hide(&text).into_owned();
        prop_assert!(!veil.is_in(&hidden), "{}", hidden);
        prop_assert_eq!(veil.hide(&hidden).into_owned(), hidden.clone());
        prop_assert!(!hidden.replace("secret:n", "\n").contains(value.as_str()), "{}", hidden);
    }

    #[test]
    fn places_go_both_ways(head in "[a-c]{0,9}", between in "[a-c]{0,9}", tail in "[a-c]{0,9}") {
        let veil = Veil::default();
        veil.add("n", &SecretValue::new("0123456789").unwrap());
        let text = format!("{head}0123456789{between}0123456789{tail}");
        let hidden = veil.hide_with_places(&text);
        let length = text.chars().count();
        prop_assert_eq!(hidden.place_now(length), hidden.text.chars().count());
        prop_assert_eq!(hidden.place_before(hidden.text.chars().count()), length);
        for place in 0..=length {
            let now = hidden.place_now(place);
            prop_assert_eq!(hidden.place_now(hidden.place_before(now)), now);
        }
    }
}
