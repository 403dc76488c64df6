//! System calls, restricted by seccomp: an allow-list, and a list of refusals.
//!
//! Calls that are not allowed fail with "function not implemented", as on an older kernel, so that programs fall back. Calls
//! that lead out of the sandbox are on a second list and fail with "operation not permitted". Calls of other architectures
//! than the native one end the program; those of the x32 ABI have numbers that are not on the list.

mod allowed;
mod refused;

use std::collections::BTreeMap;

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, SeccompRule, TargetArch};

use crate::confinement::{Confinement, Enforcement};

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Restricts this process.
pub(crate) fn restrict(confinement: &Confinement) -> Result<(), String> {
    let of = |error: seccompiler::BackendError| error.to_string();
    let alone = !matches!(confinement.enforcement, Enforcement::Namespaces { .. });
    let allowed: Rules = allowed::calls().map(|call| (call, Vec::new())).collect();
    let refused = refused::rules(confinement.network, alone).map_err(of)?;
    let first = filter(allowed, errno(libc::ENOSYS), SeccompAction::Allow).map_err(of)?;
    let second = filter(refused, SeccompAction::Allow, errno(libc::EPERM)).map_err(of)?;
    // If both filters refuse a call, the one installed last chooses the error.
    for filter in [first, second] {
        seccompiler::apply_filter(&filter).map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn errno(number: i32) -> SeccompAction {
    SeccompAction::Errno(number.unsigned_abs())
}

fn filter(
    rules: Rules,
    otherwise: SeccompAction,
    matched: SeccompAction,
) -> Result<BpfProgram, seccompiler::BackendError> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    SeccompFilter::new(rules, otherwise, matched, arch)?.try_into()
}
