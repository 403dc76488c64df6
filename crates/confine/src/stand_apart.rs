//! A Landlock domain that restricts nothing but looks into processes outside.

use landlock::{AccessFs, Ruleset, RulesetAttr as _, RulesetError};

/// Keeps this process, and all that it starts, from looking into processes that were not started by it, and from seeing through them
/// what they see: their memory, variables, descriptors and root folder (`ptrace(2)`; Linux, *Landlock*, "Ptrace restrictions").
///
/// They cannot make or undo mounts from then on. Does nothing where the kernel has no Landlock.
///
/// # Errors
/// The kernel refuses.
pub fn stand_apart() -> Result<(), RulesetError> {
    // A domain has to handle something. Nobody makes block devices here.
    let rules = Ruleset::default().handle_access(AccessFs::MakeBlock)?.create()?;
    rules.restrict_self().map(|_| ())
}
