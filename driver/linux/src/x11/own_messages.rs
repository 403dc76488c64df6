//! Client messages that this process sends to its own windows. Every client of a display can send such messages, so ours carry a number
//! that no other process knows: an application could otherwise end our reader of events, or have us take its state for final.

use std::sync::OnceLock;

/// The random part of a message.
type Secret = [u32; 4];

/// The data of a message of ours with this value.
pub(super) fn sealed(value: u32) -> [u32; 5] {
    let [one, two, three, four] = secret();
    [value, one, two, three, four]
}

/// The value of a message; `None` if it is none of ours.
pub(super) fn value_of(data: [u32; 5]) -> Option<u32> {
    let [value, rest @ ..] = data;
    (rest == secret()).then_some(value)
}

fn secret() -> Secret {
    static SECRET: OnceLock<Secret> = OnceLock::new();
    *SECRET.get_or_init(|| {
        let mut secret = [0; 4];
        for part in &mut secret {
            // Without random numbers no display opens: its cookie needs them.
            *part = getrandom::u32().unwrap_or_default();
        }
        secret
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_others_have_no_value() {
        assert_eq!(value_of(sealed(7)), Some(7));
        assert_eq!(value_of([7, 0, 0, 0, 0]), None);
    }
}
