//! Which providers of models this machine could use as it is.

use std::{
    env,
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use crate::config::Provider;

/// Maximum time for a server on this machine to accept a connection.
const CONNECT_MAX: Duration = Duration::from_millis(200);

/// A provider that could be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderCandidate {
    /// The provider.
    pub provider: Provider,
    /// Why: `ANTHROPIC_API_KEY is set`, `a server answers at http://127.0.0.1:11434`.
    pub why: String,
}

/// The providers whose API key is in the environment, and the servers that listen at the usual ports of this machine. Blocking; sends
/// nothing.
pub fn found_providers() -> Vec<ProviderCandidate> {
    let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    // One key, one proposal.
    let providers = Provider::ALL.into_iter().filter(|one| *one != Provider::OpenAiResponses);
    providers
        .filter_map(|provider| {
            let service = provider.service()?;
            let why = match (service.key_env, service.base_url) {
                (Some(name), _) if is_set(name) => format!("{name} is set"),
                (None, Some(url)) if listens(url) => format!("a server answers at {url}"),
                (Some(_) | None, _) => return None,
            };
            Some(ProviderCandidate { provider, why })
        })
        .collect()
}

/// Returns `true` if something listens at an address of this machine.
fn listens(url: &str) -> bool {
    let place = url.strip_prefix("http://").and_then(|rest| rest.split('/').next());
    let address = place.and_then(|place| place.parse::<SocketAddr>().ok());
    address.is_some_and(|address| TcpStream::connect_timeout(&address, CONNECT_MAX).is_ok())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_server_is_one_that_listens() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        assert!(listens(&url) && !listens("https://api.openai.com/v1"));
        drop(listener);
        assert!(!listens(&url));
    }
}
